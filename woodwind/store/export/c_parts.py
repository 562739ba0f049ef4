"""The parts of an exported file of C that are the same for all models."""

from woodwind.kernels.losses.exponential import (
    E2,
    E3,
    E4,
    E5,
    E6,
    E7,
    E8,
    E9,
    E10,
    E11,
    HIGHEST,
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    LOWEST,
    ROUND,
    SQRT2,
)
from woodwind.kernels.tree.linear import LARGEST
from woodwind.losses.links import LARGEST as LARGEST_FLOAT
from woodwind.losses.links import SMALLEST

TOP = """/* {model}, trained and exported by Woodwind.

   void woodwind_predict(const double *x, double *out) predicts for one row. It reads

{reads}

   and gives

{gives}

   Compile it as C99 (-std=c99, or any later standard with -ffp-contract=off) without options such as -ffast-math, and link it with -lm:
   sums then have the same bits as in Woodwind. A category that training never saw has the number -2, and a missing one -1. */

#include <math.h>
#include <stdint.h>
#include <string.h>
"""

# Every function may be unused in one model or another.
HELPERS = (
    """
#if defined(__GNUC__)
#define WW_MAYBE __attribute__((unused)) static
#else
#define WW_MAYBE static
#endif

typedef struct {
    const int64_t *roots; const int32_t *feature; const double *threshold; const int32_t *child; const unsigned char *missing;
    const int64_t *sets; const uint64_t *words; const int32_t *set_words; const double *value;
} ww_trees;

typedef struct {
    const int64_t *first; const int32_t *feature; const double *coefficient; const double *constant; const double *low; const double *high;
} ww_linear;

/* The node where a row ends: a leaf, or the node whose question it has no answer to. */
WW_MAYBE int64_t ww_walk(const ww_trees *t, int tree, const double *x)
{
    const int64_t root = t->roots[tree];
    int64_t node = root;
    while (t->feature[node] >= 0) {
        const int32_t f = t->feature[node];
        const double v = x[f];
        int way = t->missing[node];
        if (t->sets[node] < 0) {
            if (v == v) way = v > t->threshold[node];
        } else if (v == v && v != -1.0) {
            const int32_t size = t->set_words[f];
            way = 2;
            if (v >= 0.0 && v < 64.0 * size) {
                const int32_t code = (int32_t)v;
                const uint64_t *words = t->words + t->sets[node] + (code >> 6);
                if (words[0] >> (code & 63) & 1) way = 0;
                else if (words[size] >> (code & 63) & 1) way = 1;
            }
        }
        if (way == 2) break;
        node = root + t->child[node] + way;
    }
    return node;
}

WW_MAYBE void ww_add(const ww_trees *t, int n, const int32_t *column, const double *x, double *out)
{
    for (int i = 0; i < n; i++) out[column[i]] += t->value[ww_walk(t, i, x)];
}

WW_MAYBE void ww_add_vectors(const ww_trees *t, int n, int width, const double *x, double *out)
{
    for (int i = 0; i < n; i++) {
        const double *value = t->value + ww_walk(t, i, x) * width;
        for (int k = 0; k < width; k++) out[k] += value[k];
    }
}

WW_MAYBE double ww_linear_value(const ww_linear *l, int64_t node, double value, const double *x)
{
    double total = l->constant[node];
    if (l->first[node] == l->first[node + 1]) return value;
    for (int64_t i = l->first[node]; i < l->first[node + 1]; i++) {
        const double v = x[l->feature[i]];
        double product;
        if (!(fabs(v) <= """
    + repr(LARGEST)
    + """)) return value;
        product = l->coefficient[i] * v;
        total += product;
    }
    total = total < l->low[node] ? l->low[node] : total;
    return total > l->high[node] ? l->high[node] : total;
}

WW_MAYBE void ww_add_linear(const ww_trees *t, const ww_linear *l, int n, const int32_t *column, const double *x, double *out)
{
    for (int i = 0; i < n; i++) {
        const int64_t node = ww_walk(t, i, x);
        out[column[i]] += ww_linear_value(l, node, t->value[node], x);
    }
}

/* The number of a text among sorted ones; -2 where it is none of them. */
WW_MAYBE double ww_find(const char *text, const char *const *keys, const int32_t *numbers, int n)
{
    int low = 0, high = n;
    while (low < high) {
        const int middle = low + (high - low) / 2, order = strcmp(keys[middle], text);
        if (order == 0) return numbers[middle];
        if (order < 0) low = middle + 1; else high = middle;
    }
    return -2.0;
}

WW_MAYBE double ww_find_number(double v, const double *keys, const int32_t *numbers, int n)
{
    int low = 0, high = n;
    if (v != v) return -1.0;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (keys[middle] == v) return numbers[middle];
        if (keys[middle] < v) low = middle + 1; else high = middle;
    }
    return -2.0;
}

/* The row of a table with n categories, then those never seen, then missing ones. */
WW_MAYBE int ww_category_row(double number, int n)
{
    if (number != number || number == -1.0) return n + 1;
    return number >= 0.0 && number < n ? (int)number : n;
}

WW_MAYBE void ww_row(const double *table, int row, int width, double *out)
{
    for (int i = 0; i < width; i++) out[i] = table[(int64_t)row * width + i];
}

WW_MAYBE void ww_take(const double *values, const int32_t *positions, int width, double *out)
{
    for (int i = 0; i < width; i++) out[i] = values[positions[i]];
}

WW_MAYBE void ww_matmul(const double *values, const double *matrix, int rows, int columns, double *out)
{
    for (int k = 0; k < columns; k++) out[k] = 0.0;
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++) {
            const double product = values[i] * matrix[(int64_t)i * columns + k];
            out[k] += product;
        }
}

WW_MAYBE void ww_sum(const double *values, int n, double *out)
{
    double total = 0.0;
    for (int i = 0; i < n; i++) total += values[i];
    out[0] = total;
}

WW_MAYBE void ww_argmax(const double *values, int n, double *out)
{
    int best = 0;
    for (int i = 1; i < n; i++) if (values[i] > values[best]) best = i;
    out[0] = best;
}

WW_MAYBE void ww_largest(const double *values, int n, double *out)
{
    double best = values[0];
    for (int i = 1; i < n; i++) if (values[i] > best) best = values[i];
    out[0] = best;
}

WW_MAYBE void ww_smallest(const double *values, int n, double *out)
{
    double best = values[0];
    for (int i = 1; i < n; i++) if (values[i] < best) best = values[i];
    out[0] = best;
}

WW_MAYBE void ww_sort(const double *values, int n, double *out)
{
    for (int i = 0; i < n; i++) {
        int k = i;
        for (; k > 0 && out[k - 1] > values[i]; k--) out[k] = out[k - 1];
        out[k] = values[i];
    }
}

/* room: 2 n numbers */
WW_MAYBE void ww_weighted_median(const double *values, const double *weights, int n, double *room, double *out)
{
    double *sorted = room, *mass = room + n;
    for (int i = 0; i < n; i++) {
        int k = i;
        for (; k > 0 && sorted[k - 1] > values[i]; k--) { sorted[k] = sorted[k - 1]; mass[k] = mass[k - 1]; }
        sorted[k] = values[i];
        mass[k] = weights[i];
    }
    for (int i = 1; i < n; i++) mass[i] += mass[i - 1];
    out[0] = sorted[n - 1];
    for (int i = 0; i < n; i++) if (mass[i] >= 0.5 * mass[n - 1]) { out[0] = sorted[i]; break; }
}

/* The k nearest of n rows: their numbers, then their distances. */
WW_MAYBE void ww_nearest(const double *query, const double *rows, int n, int width, int k, double *out)
{
    int found = 0;
    for (int i = 0; i < n; i++) {
        double square = 0.0;
        int place = found < k ? found : k;
        for (int c = 0; c < width; c++) {
            const double step = query[c] - rows[(int64_t)i * width + c], product = step * step;
            square += product;
        }
        if (found == k && !(square < out[2 * k - 1])) continue;
        if (found < k) found++; else place = k - 1;
        for (; place > 0 && out[k + place - 1] > square; place--) { out[place] = out[place - 1]; out[k + place] = out[k + place - 1]; }
        out[place] = i;
        out[k + place] = square;
    }
    for (int i = 0; i < k; i++) out[k + i] = sqrt(out[k + i]);
}
"""
    + f"""
WW_MAYBE double ww_exp(double x)
{{
    uint64_t bits;
    double power, shifted, k, r, r2, r4, lower, upper, series;
    x = x < {LOWEST!r} ? {LOWEST!r} : x;
    x = x > {HIGHEST!r} ? {HIGHEST!r} : x;
    shifted = x * {LOG2_E!r} + {ROUND!r};
    k = shifted - {ROUND!r};
    r = (x - k * {LN2_HIGH!r}) - k * {LN2_LOW!r};
    r2 = r * r;
    r4 = r2 * r2;
    lower = ({E2!r} + r * {E3!r}) + r2 * ({E4!r} + r * {E5!r});
    upper = (({E6!r} + r * {E7!r}) + r2 * ({E8!r} + r * {E9!r})) + r4 * ({E10!r} + r * {E11!r});
    series = 1.0 + (r + r2 * (lower + r4 * upper));
    memcpy(&bits, &shifted, 8);
    bits = (bits << 52) + ((uint64_t)1023 << 52);
    memcpy(&power, &bits, 8);
    return series * power;
}}

WW_MAYBE double ww_log(double x)
{{
    const uint64_t one = (uint64_t)1023 << 52, fraction = ((uint64_t)1 << 52) - 1;
    uint64_t bits, low_bits;
    double mantissa, k, f, s, z, z2, low, middle, high, rest;
    x = x < {SMALLEST!r} ? {SMALLEST!r} : x;
    x = x > {LARGEST_FLOAT!r} ? {LARGEST_FLOAT!r} : x;
    memcpy(&bits, &x, 8);
    low_bits = (bits & fraction) | one;
    memcpy(&mantissa, &low_bits, 8);
    k = (double)((int64_t)(bits >> 52) - 1023);
    if (mantissa > {SQRT2!r}) {{ k = k + 1.0; f = mantissa * 0.5 - 1.0; }} else f = mantissa - 1.0;
    s = f / (2.0 + f);
    z = s * s;
    z2 = z * z;
    low = (1.0 / 3.0 + z * (1.0 / 5.0)) + z2 * (1.0 / 7.0 + z * (1.0 / 9.0));
    middle = (1.0 / 11.0 + z * (1.0 / 13.0)) + z2 * (1.0 / 15.0 + z * (1.0 / 17.0));
    high = 1.0 / 19.0 + z * (1.0 / 21.0);
    rest = z * (low + z2 * z2 * (middle + z2 * z2 * high));
    return k * {LN2_HIGH!r} + ((f - s * (f - 2.0 * rest)) + k * {LN2_LOW!r});
}}
"""
    + """
WW_MAYBE double ww_expit(double x)
{
    const double e = ww_exp(-fabs(x)), large = 1.0 / (1.0 + e);
    return x >= 0.0 ? large : e * large;
}

WW_MAYBE void ww_softmax(const double *scores, int n, double *out)
{
    double top = scores[0], total = 0.0;
    for (int k = 1; k < n; k++) if (scores[k] > top) top = scores[k];
    for (int k = 0; k < n; k++) {
        out[k] = ww_exp(scores[k] - top);
        total += out[k];
    }
    for (int k = 0; k < n; k++) out[k] /= total;
}
"""
)
