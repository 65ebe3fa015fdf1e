// Included ahead of kata.h and the user's file: the parts of the C and C++ standard library that kernels and launch
// functions use and that NVRTC does not carry. Their own headers (<cmath>, <cfloat>, ...) are empty, as all is here.
#pragma once

#define KATA_STD __host__ __device__ __forceinline__

// <cfloat>, <climits>, <cmath>: IEEE 754 and LP64, as the device has them.
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define DBL_MANT_DIG 53
#define FLT_DIG 6
#define DBL_DIG 15
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define FLT_EPSILON 1.1920928955078125e-7f
#define FLT_MIN 1.17549435082228750797e-38f
#define FLT_MAX 3.40282346638528859812e+38f
#define FLT_TRUE_MIN 1.40129846432481707092e-45f
#define DBL_EPSILON 2.2204460492503130808e-16
#define DBL_MIN 2.2250738585072013831e-308
#define DBL_MAX 1.7976931348623157081e+308
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN (-128)
#define CHAR_MAX 127
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LLONG_MIN (-9223372036854775807ll - 1)
#define LLONG_MAX 9223372036854775807ll
#define ULLONG_MAX 18446744073709551615ull
#define LONG_MIN (static_cast<long>(sizeof(long) == 8 ? LLONG_MIN : INT_MIN))
#define LONG_MAX (static_cast<long>(sizeof(long) == 8 ? LLONG_MAX : INT_MAX))
#define ULONG_MAX (static_cast<unsigned long>(-1))
#define SIZE_MAX ULLONG_MAX
#define INFINITY __builtin_bit_cast(float, 0x7f800000u)
#define NAN __builtin_bit_cast(float, 0x7fffffffu)
#define HUGE_VALF INFINITY
#define HUGE_VAL __builtin_bit_cast(double, 0x7ff0000000000000ull)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

// <cstdint>
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef long long int64_t;  // as <cuda/std/cstdint> has it, which may be included later
typedef unsigned long long uint64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define INT8_MIN SCHAR_MIN
#define INT8_MAX SCHAR_MAX
#define UINT8_MAX UCHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define UINT16_MAX USHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MIN LLONG_MIN
#define INT64_MAX LLONG_MAX
#define UINT64_MAX ULLONG_MAX

// <cstdio>, <cstdlib>: what a host function prints goes where a kernel's printf goes.
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define stdout 1
#define stderr 2
#define fprintf(stream, ...) printf(__VA_ARGS__)
#define puts(text) printf("%s\n", text)
#define fflush(stream) 0
KATA_STD void exit(int) { asm volatile("trap;"); }
KATA_STD void abort() { asm volatile("trap;"); }

namespace kata {

template <class T> struct integral { static constexpr bool value = false; };
template <bool, class T> struct only_if {};
template <class T> struct only_if<true, T> { typedef T type; };

#define KATA_INTEGRAL(T) template <> struct integral<T> { static constexpr bool value = true; };
KATA_INTEGRAL(bool) KATA_INTEGRAL(char) KATA_INTEGRAL(signed char) KATA_INTEGRAL(unsigned char)
KATA_INTEGRAL(short) KATA_INTEGRAL(unsigned short) KATA_INTEGRAL(int) KATA_INTEGRAL(unsigned)
KATA_INTEGRAL(long) KATA_INTEGRAL(unsigned long) KATA_INTEGRAL(long long) KATA_INTEGRAL(unsigned long long)
#undef KATA_INTEGRAL

}  // namespace kata

// A whole number given to a function of floating-point ones is a double: NVRTC calls `log2(8)` ambiguous.
#define KATA_MATH(name) \
    template <class T> KATA_STD typename kata::only_if<kata::integral<T>::value, double>::type name(T x) { \
        return name(static_cast<double>(x)); \
    }
KATA_MATH(sqrt) KATA_MATH(cbrt) KATA_MATH(exp) KATA_MATH(exp2) KATA_MATH(log) KATA_MATH(log2) KATA_MATH(log10)
KATA_MATH(sin) KATA_MATH(cos) KATA_MATH(tan) KATA_MATH(tanh) KATA_MATH(ceil) KATA_MATH(floor) KATA_MATH(round)
#undef KATA_MATH
template <class A, class B>
KATA_STD typename kata::only_if<kata::integral<A>::value && kata::integral<B>::value, double>::type pow(A x, B y) {
    return pow(static_cast<double>(x), static_cast<double>(y));
}

namespace std {

using ::size_t; using ::ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::intptr_t; using ::uintptr_t;

using ::abs; using ::fabs; using ::fmod; using ::fma; using ::fmax; using ::fmin; using ::fdim; using ::remainder;
using ::exp; using ::exp2; using ::expm1; using ::log; using ::log2; using ::log10; using ::log1p;
using ::pow; using ::sqrt; using ::cbrt; using ::hypot; using ::erf; using ::erfc; using ::tgamma; using ::lgamma;
using ::sin; using ::cos; using ::tan; using ::asin; using ::acos; using ::atan; using ::atan2;
using ::sinh; using ::cosh; using ::tanh; using ::asinh; using ::acosh; using ::atanh;
using ::ceil; using ::floor; using ::trunc; using ::round; using ::lround; using ::nearbyint; using ::rint;
using ::ldexp; using ::frexp; using ::copysign; using ::nextafter; using ::isnan; using ::isinf; using ::isfinite; using ::signbit;
using ::expf; using ::logf; using ::sqrtf; using ::powf; using ::fabsf; using ::fmaxf; using ::fminf; using ::tanhf;
using ::ceilf; using ::floorf; using ::roundf;
using ::printf; using ::memset; using ::memcpy; using ::exit; using ::abort;

// <algorithm>, <utility>
template <class T> KATA_STD constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> KATA_STD constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T, class Less> KATA_STD constexpr const T& min(const T& a, const T& b, Less less) { return less(b, a) ? b : a; }
template <class T, class Less> KATA_STD constexpr const T& max(const T& a, const T& b, Less less) { return less(a, b) ? b : a; }
template <class T> KATA_STD constexpr T min(initializer_list<T> items) {
    T least = *items.begin();
    for (const T& item : items) least = item < least ? item : least;
    return least;
}
template <class T> KATA_STD constexpr T max(initializer_list<T> items) {
    T most = *items.begin();
    for (const T& item : items) most = most < item ? item : most;
    return most;
}
template <class T> KATA_STD constexpr const T& clamp(const T& x, const T& low, const T& high) {
    return x < low ? low : high < x ? high : x;
}
template <class T> KATA_STD constexpr void swap(T& a, T& b) {
    T kept = static_cast<T&&>(a);
    a = static_cast<T&&>(b);
    b = static_cast<T&&>(kept);
}

// <limits>
template <class T> struct numeric_limits { static constexpr bool is_specialized = false; };
#define KATA_LIMITS(T, least, most, bits, sign) \
    template <> struct numeric_limits<T> { \
        static constexpr bool is_specialized = true, is_signed = sign, is_integer = true, is_exact = true; \
        static constexpr bool has_infinity = false, has_quiet_NaN = false; \
        static constexpr int digits = bits, radix = 2; \
        KATA_STD static constexpr T min() noexcept { return least; } \
        KATA_STD static constexpr T lowest() noexcept { return least; } \
        KATA_STD static constexpr T max() noexcept { return most; } \
        KATA_STD static constexpr T epsilon() noexcept { return 0; } \
    };
#define KATA_REAL_LIMITS(T, prefix, huge, nan) \
    template <> struct numeric_limits<T> { \
        static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false; \
        static constexpr bool has_infinity = true, has_quiet_NaN = true; \
        static constexpr int digits = prefix##_MANT_DIG, digits10 = prefix##_DIG, radix = 2; \
        KATA_STD static constexpr T min() noexcept { return prefix##_MIN; } \
        KATA_STD static constexpr T lowest() noexcept { return -prefix##_MAX; } \
        KATA_STD static constexpr T max() noexcept { return prefix##_MAX; } \
        KATA_STD static constexpr T epsilon() noexcept { return prefix##_EPSILON; } \
        KATA_STD static constexpr T infinity() noexcept { return huge; } \
        KATA_STD static constexpr T quiet_NaN() noexcept { return nan; } \
    };
KATA_REAL_LIMITS(float, FLT, HUGE_VALF, NAN)
KATA_REAL_LIMITS(double, DBL, HUGE_VAL, __builtin_bit_cast(double, 0x7ff8000000000000ull))
KATA_LIMITS(bool, false, true, 1, false)
KATA_LIMITS(char, CHAR_MIN, CHAR_MAX, 7, true)
KATA_LIMITS(signed char, SCHAR_MIN, SCHAR_MAX, 7, true)
KATA_LIMITS(unsigned char, 0, UCHAR_MAX, 8, false)
KATA_LIMITS(short, SHRT_MIN, SHRT_MAX, 15, true)
KATA_LIMITS(unsigned short, 0, USHRT_MAX, 16, false)
KATA_LIMITS(int, INT_MIN, INT_MAX, 31, true)
KATA_LIMITS(unsigned, 0, UINT_MAX, 32, false)
KATA_LIMITS(long, LONG_MIN, LONG_MAX, 8 * sizeof(long) - 1, true)
KATA_LIMITS(unsigned long, 0, ULONG_MAX, 8 * sizeof(long), false)
KATA_LIMITS(long long, LLONG_MIN, LLONG_MAX, 63, true)
KATA_LIMITS(unsigned long long, 0, ULLONG_MAX, 64, false)
#undef KATA_REAL_LIMITS
#undef KATA_LIMITS

// <iostream>: swallowed. Nothing of a plan depends on it.
struct ostream {
    template <class T> KATA_STD const ostream& operator<<(const T&) const { return *this; }
};
static constexpr ostream cout{}, cerr{}, clog{};
static constexpr char endl = '\n', flush = '\0';

}  // namespace std

#undef KATA_STD
