"""Special functions by arithmetic.

`f` has the elementary functions of a front end's values (`abs`, `cos`, `erf`, `exp`, `floor`, `log`, `log1p`, `sin`, `sqrt`, `where`),
which are of f32, or of f64 where `f.is_double`; values have Python's operators."""

from __future__ import annotations

import math
from typing import Any, Protocol, Sequence


class Functions(Protocol):
    is_double: bool

    def __getattr__(self, name: str) -> Any: ...


def _polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """Highest power first."""
    result: Any = coefficients[0]
    for number in coefficients[1:]:
        result = result * x + number
    return result


def _series(f: Functions, y: Any, coefficients: Sequence[float]) -> Any:
    """Chebyshev's, of y from -1 to 1, by Clenshaw's recurrence: as many terms as the precision of the type needs."""
    known = [c for c in coefficients if abs(c) > (0 if f.is_double else 1e-9)]
    after: Any = 0.0
    result: Any = known[-1]
    for number in known[-2:0:-1]:
        after, result = result, y * 2.0 * result - after + number
    return y * result - after + known[0]


# --- the error function ---------------------------------------------------------------------------


def erf_inv(f: Functions, x: Any) -> Any:
    """The inverse of erf by Giles' polynomials and, in f64, two steps of Newton's method.

    M. Giles, "Approximating the erfinv function", GPU Computing Gems 2 (2011)."""
    w = -f.log((1.0 - x) * (1.0 + x))
    near = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164, 0.246640727,
            1.50140941)  # fmt: skip
    far = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047, 1.00167406,
           2.83297682)  # fmt: skip
    y = f.where(w < 5.0, _polynomial(w - 2.5, near), _polynomial(f.sqrt(w) - 3.0, far)) * x
    if f.is_double:  # f32 has all its bits already
        for _ in range(2):
            y = y - (f.erf(y) - x) / (f.exp(-(y * y)) * (2 / math.sqrt(math.pi)))
    # At the ends the polynomials have no value.
    return f.where(f.abs(x) == 1.0, x * math.inf, y)


ERFCX = (-0.65132685989085472, 0.64196979235649026, 0.019476473204185836, -0.0095615147868086316, -0.00094659534448203687,
         0.00036683949785276145, 4.2523324806907772e-5, -2.0278578112534243e-5, -1.6242900046470255e-6, 1.3036558355805232e-6,
         1.5626441722066143e-8, -8.5238095914926543e-8, 6.5290544390988515e-9, 5.0593434955514689e-9, -9.9136415649303309e-10,
         -2.2736512229318359e-10, 9.6467911020155268e-11, 2.3940380830391147e-12, -6.8860275264975534e-12, 8.9448792730907257e-13,
         3.1309213993429581e-13, -1.1270822361367252e-13, 3.8109052551892321e-16, 7.106097613609237e-15, -1.5230282014571043e-15,
         -9.457494571291234e-17, 1.210237189224279e-16, -2.816663087747177e-17)  # fmt: skip
"""Chebyshev's series of log(exp(z^2) erfc(z) / t) in 2 t - 1, where t = 2 / (2 + z) and z is not negative."""


def _square_exponential(f: Functions, z: Any, sign: float) -> Any:
    """exp(z^2) or exp(-z^2), whose error does not grow with z: the square of z to 1/16 is exact."""
    rounded = f.floor(z * 16.0) / 16.0
    return f.exp(rounded * rounded * sign) * f.exp((z - rounded) * (z + rounded) * sign)


def _erfcx_right(f: Functions, z: Any) -> Any:
    t = 2.0 / (z + 2.0)
    return t * f.exp(_series(f, t * 2.0 - 1.0, ERFCX))


def erfc(f: Functions, x: Any) -> Any:
    """1 - erf(x)."""
    z = f.where(f.abs(x) > 40.0, f.where(x == x, 40.0, x), f.abs(x))  # of which it is 0 already
    right = _erfcx_right(f, z) * _square_exponential(f, z, -1.0)
    return f.where(x < 0.0, 2.0 - right, right)


def erfcx(f: Functions, x: Any) -> Any:
    """exp(x^2) erfc(x)."""
    z = f.abs(x)
    right = _erfcx_right(f, z)
    small = f.where(x < -40.0, 40.0, f.where(x < 0.0, z, 0.0))
    return f.where(x < 0.0, _square_exponential(f, small, 1.0) * 2.0 - right, right)


def ndtri(f: Functions, p: Any) -> Any:
    """Where the standard normal distribution is less with probability p.

    M. Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37 (1988)."""
    q = p - 0.5
    tail = f.where(q < 0.0, p, 1.0 - p)
    r = f.sqrt(-f.log(f.where(tail > 0.0, tail, 0.5)))
    center = 0.180625 - q * q
    middle = q * _polynomial(center, (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
                                      1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080))
    middle = middle / _polynomial(center, (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
                                           5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0))
    near = _polynomial(r - 1.6, (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258,
                                 3.64784832476320460504, 5.76949722146069140550, 4.63033784615654529590, 1.42343711074968357734))
    near = near / _polynomial(r - 1.6, (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
                                        1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940,
                                        2.05319162663775882187, 1.0))
    far = _polynomial(r - 5.0, (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
                                2.96560571828504891230e-1, 1.78482653991729133580, 5.46378491116411436990, 6.65790464350110377720))
    far = far / _polynomial(r - 5.0, (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
                                      7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
                                      5.99832206555887937690e-1, 1.0))  # fmt: skip
    outer = f.where(r > 5.0, far, near)
    result = f.where(f.abs(q) < 0.425, middle, f.where(q < 0.0, -outer, outer))
    result = f.where(p == 0.0, -math.inf, f.where(p == 1.0, math.inf, result))
    return f.where((p >= 0.0) & (p <= 1.0), result, math.nan)


# --- gamma ----------------------------------------------------------------------------------------

LANCZOS = (676.520368121885098567009190444019, -1259.13921672240287047156078755283, 771.3234287776530788486528258894,
           -176.61502916214059906584551354, 12.507343278686904814458936853, -0.13857109526572011689554707,
           9.984369578019570859563e-6, 1.50563273514931155834e-7)  # fmt: skip
"""Lanczos' series for g = 7, after the leading one: C. Lanczos, "A precision approximation of the gamma function" (1964), as XLA has it."""


class _Lanczos:
    """What the gamma function and its derivative share: both are of z + 1 where x is at least a half, else mirrored."""

    def __init__(self, f: Functions, x: Any):
        self.mirrored = x < 0.5
        self.z = z = f.where(self.mirrored, -x, x - 1.0)
        # log(z + 7.5)
        self.t = z + 7.5
        self.log_t = f.log1p(z / 7.5) + math.log(7.5)
        total: Any = 0.99999999999980993227684700473478
        slope: Any = 0.0
        for i, number in enumerate(LANCZOS):
            position = z + float(i + 1)
            term = number / position
            total = total + term
            slope = slope - term / position
        self.sum, self.slope = total, slope


def lgamma(f: Functions, x: Any) -> Any:
    """log |gamma(x)|."""
    s = _Lanczos(f, x)
    right = (s.z + 0.5 - s.t / s.log_t) * s.log_t + math.log(2 * math.pi) / 2 + f.log(s.sum)
    # gamma(x) gamma(1 - x) = pi / sin(pi x), which is without bounds at 0, -1, ...
    size = f.abs(x)
    rest = size - f.floor(size)
    rest = f.where(rest > 0.5, 1.0 - rest, rest)
    left = math.log(math.pi) - f.log(f.sin(rest * math.pi)) - right
    left = f.where(rest == 0.0, math.inf, left)
    result = f.where(s.mirrored, left, right)
    return f.where(size == math.inf, math.inf, result)


def digamma(f: Functions, x: Any) -> Any:
    """The derivative of log gamma(x); NaN where that is without bounds on both sides."""
    s = _Lanczos(f, x)
    right = s.log_t + s.slope / s.sum - 7.0 / s.t
    # digamma(1 - x) - digamma(x) = pi / tan(pi x), taken near 0.
    rest = x - f.floor(x + 0.5)
    angle = rest * math.pi
    left = f.where(rest == 0.0, math.nan, right - f.cos(angle) * math.pi / f.sin(angle))
    return f.where(s.mirrored, left, right)


BERNOULLI = (12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1892437580.3183792, 74724249600.0, -2950130727918.1642, 116467828143500.67,
             -4597978722407472.6, 181521054019435470.0, -7166165256175667000.0)  # fmt: skip
"""(2 j)! / B(2 j), of Bernoulli's numbers."""


def zeta(f: Functions, s: Any, q: Any) -> Any:
    """Hurwitz's: the sum of (q + k)^-s over k = 0, 1, ...; for q below 0 where s is an integer.

    Ten terms, and Euler and Maclaurin's formula for the others."""

    def right(q: Any) -> Any:
        a = q
        total = power = a**-s
        for _ in range(9):
            a = a + 1.0
            power = a**-s
            total = total + power
        total = total + power * a / (s - 1.0) - power * 0.5
        for j, number in enumerate(BERNOULLI):
            power = power * (s + float(2 * j)) / a
            total = total + power / number
            power = power * (s + float(2 * j + 1)) / a
        return total

    # Terms of negative numbers are those of a sum from 1 - rest to -q: they are two other sums apart.
    down = f.floor(q)
    is_left, is_unsharded = q < 0.0, s == f.floor(s)
    rest = f.where(is_left, f.where(q == down, 0.5, q - down), 0.5)
    apart = right(1.0 - rest) - right(f.where(is_left, 1.0 - q, 1.0))
    is_even = f.floor(s / 2.0) * 2.0 == s
    left = right(rest) + f.where(is_even, apart, -apart)
    result = f.where(is_left, f.where(is_unsharded, left, math.nan), right(f.where(is_left, 1.0, q)))
    result = f.where((q <= 0.0) & (q == down), math.inf, f.where(q == math.inf, 0.0, result))
    result = f.where(s == 1.0, math.inf, f.where(s < 1.0, math.nan, result))
    return f.where((s == s) & (q == q), result, math.nan)


def polygamma(f: Functions, n: Any, x: Any) -> Any:
    """The derivative of order n of digamma."""
    size = f.exp(lgamma(f, n + 1.0)) * zeta(f, n + 1.0, x)
    is_even = f.floor(n / 2.0) * 2.0 == n
    result = f.where(is_even, -size, size)
    return f.where(n == 0.0, digamma(f, x), f.where((n < 0.0) | (n != f.floor(n)), math.nan, result))


# --- Bessel's functions ---------------------------------------------------------------------------

I0E_NEAR = (0.33839763720473804, -0.3046826723431984, 0.17162090152220878, -0.094901097048047644, 0.049305284239670708,
            -0.023737414805899469, 0.010546460394594998, -0.0043243099950505759, 0.0016394756169413358, -0.00057637557453858237,
            0.00018850288509584166, -5.7541950100821037e-5, 1.6448448070728897e-5, -4.4167383584587506e-6, 1.1173875391201037e-6,
            -2.6707938539406117e-7, 6.0469950225419189e-8, -1.300025009986248e-8, 2.6598237246823867e-9, -5.1897956016352629e-10,
            9.6758090353732369e-11, -1.7268262914415557e-11, 2.9550526631296398e-12, -4.8564467831119295e-13, 7.6761854986049356e-14,
            -1.1685332877993452e-14, 1.715391285555133e-15, -2.4312798465479547e-16, 3.3307945188222381e-17)
I0E_FAR = (0.40224520550705442, 0.0033691164782556941, 6.889758346916824e-5, 2.8913705208347565e-6, 2.0489185894690637e-7,
           2.2666689904981781e-8, 3.3962320257083863e-9, 4.9406023882249696e-10, 1.1889147107846438e-11, -3.1499165279632414e-11,
           -1.3215811840447713e-11, -1.7941785315068061e-12, 7.1801244513836662e-13, 3.8527783827421427e-13, 1.5400862175214098e-14,
           -4.1505693472872221e-14, -9.5548466988283076e-15, 3.8116806693526224e-15, 1.7725601330565264e-15, -3.4254856196772191e-16,
           -2.8276239805165835e-16, 3.4612228676974611e-17, 4.46562142029676e-17)
I1E_NEAR = (0.12629359322181683, -0.17641651835783406, 0.1026436586898471, -0.052945981208094991, 0.024726449030626517,
            -0.010564084894626198, 0.0041564229443128882, -0.0015135724506312531, 0.00051228595616857577, -0.00016176081582589675,
            4.7815651075500542e-5, -1.3273163656039436e-5, 3.4702513081376785e-6, -8.5687202646954547e-7, 2.0032947535521353e-7,
            -4.4450591287963281e-8, 9.3815373864957718e-9, -1.8872497517228293e-9, 3.625590281552117e-10, -6.6634897235020277e-11,
            1.1736186298890902e-11, -1.9839743977649437e-12, 3.2237933659455747e-13, -5.0421855047279117e-14, 7.6006842947354069e-15,
            -1.1055969477353863e-15, 1.5536319577362005e-16, -2.1114212143581661e-17)
I1E_FAR = (0.38928811750914006, -0.0097610974913614684, -0.00011058893876262372, -3.8825648088776904e-6, -2.5122362378702089e-7,
           -2.6314688468895195e-8, -3.835380385964237e-9, -5.5897434621965838e-10, -1.8974958123505412e-11, 3.2526035830154882e-11,
           1.4125807436613781e-11, 2.0356285441470895e-12, -7.1985517762459085e-13, -4.0835511110921973e-13, -2.1015418427726643e-14,
           4.2724400167119514e-14, 1.0420276984128803e-14, -3.8144030724370078e-15, -1.8803547755107824e-15, 3.3082023109209283e-16,
           2.9626289976459501e-16, -3.209525921993424e-17, -4.6503053684893583e-17)  # fmt: skip
"""Chebyshev's series of exp(-z) I(z) (of I1 divided by z) in z / 4 - 1 up to 8, and of sqrt(z) exp(-z) I(z) in 16 / z - 1 above."""


def bessel_i0e(f: Functions, x: Any) -> Any:
    """exp(-|x|) I0(x), of the modified Bessel function."""
    z = f.abs(x)
    far = f.where(z > 8.0, z, 8.0)
    return f.where(z > 8.0, _series(f, 16.0 / far - 1.0, I0E_FAR) / f.sqrt(far), _series(f, f.where(z > 8.0, 1.0, z / 4.0 - 1.0), I0E_NEAR))


def bessel_i1e(f: Functions, x: Any) -> Any:
    """exp(-|x|) I1(x)."""
    z = f.abs(x)
    far = f.where(z > 8.0, z, 8.0)
    near = _series(f, f.where(z > 8.0, 1.0, z / 4.0 - 1.0), I1E_NEAR) * z
    result = f.where(z > 8.0, _series(f, 16.0 / far - 1.0, I1E_FAR) / f.sqrt(far), near)
    return f.where(x < 0.0, -result, result)
