"""Growing one tree along five axes, and the frozen arrays that remain of it."""
