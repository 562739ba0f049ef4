"""How members differ and why that helps: measures, margins, bias and variance, the theory of crowds."""
