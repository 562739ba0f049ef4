"""CityHash64 in its first version, 1.0, of which CatBoost takes the lower half to know categories by: Pike & Alakuijala 2011.

It is asked once for each distinct category of a column, and so is plain Python.
"""

K0, K1, K2, K3 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 0xC949D7C7509E6557
K_MUL = 0x9DDFEA08EB382D69
MASK = (1 << 64) - 1


def city_hash(text: str) -> int:
    """The lower 32 bits of the hash of a text in UTF-8, as a number with a sign."""
    low = city_hash_64(text.encode("utf-8", "surrogatepass")) & 0xFFFFFFFF
    return low - (1 << 32) if low >> 31 else low


def city_hash_64(data: bytes) -> int:
    """All 64 bits."""
    size = len(data)
    if size <= 16:
        return _up_to_16(data)
    if size <= 32:
        a, b = _word(data, 0) * K1, _word(data, 8)
        c, d = _word(data, size - 8) * K2, _word(data, size - 16) * K0
        return _mixed(_rotated(a - b, 43) + _rotated(c, 30) + d, a + _rotated(b ^ K3, 20) - c + size)
    return _up_to_64(data) if size <= 64 else _longer(data)


def _word(data: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _rotated(value: int, by: int) -> int:
    value &= MASK
    return (value >> by) | (value << (64 - by)) & MASK


def _shifted(value: int) -> int:
    value &= MASK
    return value ^ (value >> 47)


def _mixed(low: int, high: int) -> int:
    a = _shifted((low ^ high & MASK) * K_MUL)
    return _shifted((high & MASK ^ a) * K_MUL) * K_MUL & MASK


def _up_to_16(data: bytes) -> int:
    size = len(data)
    if size > 8:
        b = _word(data, size - 8)
        return _mixed(_word(data, 0), _rotated(b + size, size)) ^ b
    if size >= 4:
        return _mixed(size + (_word(data, 0, 4) << 3), _word(data, size - 4, 4))
    if size == 0:
        return K2
    return _shifted((data[0] + (data[size >> 1] << 8)) * K2 ^ (size + (data[-1] << 2)) * K3) * K2 & MASK


def _half(start: int, words: tuple[int, int, int]) -> tuple[int, int]:
    one, two, last = words
    b, c = _rotated(start + last, 52), _rotated(start, 37)
    start += one
    c += _rotated(start, 7)
    start += two
    return start + last, b + _rotated(start, 31) + c


def _up_to_64(data: bytes) -> int:
    size = len(data)
    end = [_word(data, size - back) for back in (8, 16, 24, 32)]
    first = _half(_word(data, 0) + (size + end[1]) * K0, (_word(data, 8), _word(data, 16), _word(data, 24)))
    second = _half(_word(data, 16) + end[3], (end[2], end[1], end[0]))
    r = _shifted((first[0] + second[1]) * K2 + (second[0] + first[1]) * K0)
    return _shifted(r * K0 + first[1]) * K2 & MASK


def _seeded(data: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    w, x, y, z = (_word(data, at + 8 * k) for k in range(4))
    a += w
    b = _rotated(b + a + z, 21)
    c = a
    a += x + y
    return a + z & MASK, b + _rotated(a, 44) + c & MASK


def _longer(data: bytes) -> int:
    size = len(data)
    x, y, z = _word(data, 0), _word(data, size - 16) ^ K1, _word(data, size - 56) ^ K0
    v = _seeded(data, size - 64, size, y)
    w = _seeded(data, size - 32, size * K1, K0)
    z += _shifted(v[1]) * K1
    x, y = _rotated(z + x, 39) * K1, _rotated(y, 33) * K1
    for at in range(0, (size - 1) & ~63, 64):
        x = _rotated(x + y + v[0] + _word(data, at + 16), 37) * K1 ^ w[1]
        y = _rotated(y + v[1] + _word(data, at + 48), 42) * K1 ^ v[0]
        z = _rotated(z ^ w[0], 33)
        v, w = _seeded(data, at, v[1] * K1, x + w[0]), _seeded(data, at + 32, z + w[1], y)
        z, x = x, z
    return _mixed(_mixed(v[0], w[0]) + _shifted(y) * K1 + z, _mixed(v[1], w[1]) + x)
