"""Lists of coded cells, line after line, where lines are columns or rows: some lines, and from columns to rows.

The cells of line k are starts[k] to starts[k + 1], `at` is where in its line each stands, ascending.
"""

from typing import Any

from woodwind.kernels.runtime.jit import kernel


@kernel
def keep_uncommon(starts: Any, at: Any, codes: Any, absent: Any, out_starts: Any, out_at: Any, out_codes: Any) -> None:
    """The stored cells without those whose code is that of an absent one: out_starts int64[F + 1] has been made of their number."""
    for f in range(len(absent)):
        k = out_starts[f]
        for i in range(starts[f], starts[f + 1]):
            if codes[i] != absent[f]:
                out_at[k], out_codes[k] = at[i], codes[i]
                k += 1


@kernel
def transpose(starts: Any, at: Any, codes: Any, out_starts: Any, out_at: Any, out_codes: Any) -> None:
    """Columns to rows, or rows to columns: starts int64[lines + 1], at int32[m], codes uint8[m]; out_starts int64[others + 1]."""
    n_lines, n_others = len(starts) - 1, len(out_starts) - 1
    for k in range(n_others + 1):
        out_starts[k] = 0
    for i in range(starts[0], starts[n_lines]):
        out_starts[at[i] + 1] += 1
    for k in range(n_others):
        out_starts[k + 1] += out_starts[k]
    for line in range(n_lines):
        for i in range(starts[line], starts[line + 1]):
            k = out_starts[at[i]]
            out_at[k], out_codes[k] = line, codes[i]
            out_starts[at[i]] = k + 1
    for k in range(n_others, 0, -1):
        out_starts[k] = out_starts[k - 1]
    out_starts[0] = 0


@kernel
def take_lines(starts: Any, at: Any, codes: Any, lines: Any, out_starts: Any, out_at: Any, out_codes: Any) -> None:
    """Some lines, each as often as it is named: lines int64[k]; out_starts int64[k + 1] has been made of their lengths."""
    for j in range(len(lines)):
        k = out_starts[j]
        for i in range(starts[lines[j]], starts[lines[j] + 1]):
            out_at[k], out_codes[k] = at[i], codes[i]
            k += 1
