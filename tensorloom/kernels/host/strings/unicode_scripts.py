"""The script of each Unicode code point: a table of ranges.

From the Script property of the Unicode Character Database (Scripts.txt, version 12),
with the numbers that ICU gives the scripts (`UScriptCode`). Packed: for each range its
distance from the start of the one before, as a varint, and the script, one byte.
"""

from __future__ import annotations

import base64
import zlib
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RANGES = """
eNp9Vl1sFNcVvufO786sZ3Z2vbZn/bO7tvFisLENBmwMwTYtCTUyf2n4VYTUkK9yaEIKiZKgJC5N4liB
JCARCGr4dflrJZPSkEbqQyu16kNVqZWa9qXqSx8rVVFb9bnfDAutoqoP35x7zz3n3HPPPefcUWoiLimb
GIhFhYQVNyuJy8TPDVWLLWVZWjXKkcBUEhjQKRWYgSQ05SVzCRqJjU4Q5Nw3RbR7izyjB9oYVGIIKeUK
a+EWWmEWbPjaUqJtIiAoq2lLVwhPfF2ihcMcd3YGkM710J2GHlyyEsHuMejdxmsroF8LIY+3QT9O3U4f
q3WRNlwUdUi9dm8HDUVKeyXThJgutKmJJo4dQmCQr81MnW/CJc/kWEyL8xg6R39zNswc13PUy1GP4wfQ
Oe6bs+rrBgzOnRz3SmkEL6R+mCESSv2Q+iF1Q9oPvTqf8QwFYUhfwiycRKZMfpn+lmm3TL1ywqNemXrl
TJ1vwCU1H/Lz8Lo47rJhdFG/yyRN5vSR1EhBH7uyMLushzKa6zYRdBVhdTdAusnvbiZyMLrd+tyE063T
scWx7vbgdrtFShe5WqR0kacp0otips6jRlETko51uq7RUGJ0SrRaokxpVZ0ywqUcdKkEXeUu1TyMagsp
bVWZNVWHc95M1U7nUnVhVz3yDWR71oG52NOGJS3UbKH0Q8pztXC3FsauxUh5/1lvSHm6xarzbY5pkfKV
2mOQWjfMWi2lUmOO1Rxl1jSWtF2WbA8kK7AInV2uJGvmZ7W/BeLzlD738qU+7q3T6v9Yo01/tD7eRFRg
+CXY9hPQNn1ZOmu1t8OoTCmj4sNZRneXOfCXF5VGpq8R2X5y+nmofo1s85PQzR7sBK1a6VYWUStD15rM
98JpXQ5r6WZ4g2XIIC8/BZN/MDvcAT1swR/rgznG7cd8GGO6ubKWJbVWz2yEzLRDz/iwZ2hrJoCWEBOP
bIX5SD+M58c3DsPdaO4cgbEzJIxvDboZONnljIzxvAtXDCXSQDB8IsomDNGw457AciUeCqzYJBo43hyI
rIOIFc/qoIkdhlEIeurUrXeXByiTt5qUUQyCVEaCAmnShXhwlRWtdpP6MS8p+SpKxg0wVAU5qSJUPexa
RqzZ9ES1ElHcqwxm0jkLsfJRVJedFbNa/ZP3Qx2thmiNO44M3EdccY7Bcpz/Tob1I3DWawTrxW9GJr3t
/wO3orZhKCpBor3IRn8QlBTvRVkRb4+Io4yYea3cyFRM4kYmBg+lGxnRpn1KN7EQreWQ/JN0LGe1wlLd
yDbl8rxjNZ4vqx1NdLNpj7op0b1V8NR49MU1Qa73VAZG71pkvjv4jR9qNLoHT+yBqzrjpxmOAWyIM+uY
C4q3vW8E7nObiSxsr7JthZJt8mw3/Gclz8ycnuY+Mu3BnNZt3HOSJid5FZMsokmzrfL6JrS8bh1thufz
Aut4GJSYdRNneJWevf0o2/hR7pdf2I1svhlmfghvTEZ/Y4eLZtATO8gaFqwCI1VgtRZ4/wVdh6e/jUj/
lXFBTo9D6zVYqpMszSUnkMDVqot+FggTpqa6nksygjZUpf7k+U0eQ9qvNENn5OnoQ7BXKjpLeIqdbSgL
GaIXQzQ3xN2HQvICdA4dZ/CT3GFJqEywLcm/5GXEgOoXwQl5hvH65hBCZj+fvY5uZDqMBt7YXtbl6g7I
atnAdrMhwLLM9lWDK1mTK+n9D8hL8PZSuJeG4V8SvC+7PmX972qCt8vFeRmglwM8y0Afwe7OMefH+F4c
y7xfea8M970MBq/S36sa1lVrfxuM/XK4BOuwYPyJyqkWmKcaoU+tGGWKjVJmlJU2yioaZdmTmqMenFGW
9JuVdyuovFyD+XIWmRfWwHjBeZVV+qr7SgHWK+7xPJzjJrLHHWzfswVrt65CA+Fste/R/Xsermtdxnfk
J5x9ugzXZWIa5kQHwgl5aRL+S3T8fAznPM/9IsvsxQiZyzVkzk1Dn8ux4TfC/ygP+agPEwu8kgUeeoEu
L7CsF9idTo/BOk3defLm+WzOM3nmGYZ5ynIs87x5kflMfYWNf56PA2FRQhMGJd6R2/sgt2n6tkb14mNw
L9Jvub4G+noPOq99Ff61pKM2oPAha+NDD2uutEJfCWFeyeFn8qP1eOrMLmTPCGb1x1S/Mwx9px3t3x/F
nL7JvnSznwjg3WRC3GJXuUUXbwXYskg3F+nmYh+MRamPM3AXud1d9ra7nN9dUqc2nLse7ukfx7R66IKD
pw89BznELn7oF4KfFh9ddPG78vd+ZeKzTSc+4yt8luV5loV6VuPgW0yut2x4U3wOpvgiT3HnKb77UwXc
sT7Zj0MHeMoDA8gdiDB+QT4QdFz4+wCCC/+wcOprTdJ4UWPHBycNvJGfewbWHFvqHNNjjlU/l/SpP/Wo
f7GqVY1F9gi7fySu0uz+HWKqMTQHm3FBFJ8vdueM4gFEfZ3l8iih07LUKTXTEpK0TJMCnEjrl72wPm9L
5/xLTWXuF+nvE8WF5LPyyEkL4REuHgnxW2+EqyMRdEoZwBELn4cnf8m9TubQe2MK1g0G54bGaVt9Bb/W
mpZ1K6GT31H2lOS3lKFK+ekvKmzCrI/vw/iS/JfxYC2x4dRtPbCX2I5gpTasdDxM+Xe1ShrxU4wV+0zy
fqVYwuAm79gBrm3AqCo1JqFrSGV5ERwHyk6C/Dl/F1JJ5pA6Rit7UUsfGKZuymMlqg7sTHl8KvjCJYE3
0qDXaDGRMUgHcVAFOONHf/yNRm/0SQV+9GeeJTrRjyD6eB0utUQXTfzlnT6qdqiDmBX5QvBvPKAmLw==
"""


@cache
def scripts() -> NDArray[np.int16]:
    """The script of each code point, and -1 behind the last one."""
    starts, numbers = _ranges()
    return np.append(np.repeat(numbers, np.diff([*starts, 0x110000])), np.int16(-1))


def _ranges() -> tuple[list[int], NDArray[np.int16]]:
    """(first code points of the ranges in ascending order, their scripts)."""
    packed = zlib.decompress(base64.b64decode(_RANGES))
    starts, numbers = [], []
    start = shift = distance = 0
    bytes_of = iter(packed)
    for byte in bytes_of:
        distance |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            start += distance
            starts.append(start)
            numbers.append(next(bytes_of))
            shift = distance = 0
    return starts, np.array(numbers, np.int16)
