// Definitions that static libraries of the compiler and the system need when a wheel is linked for an older system.
#define XXH_STATIC_LINKING_ONLY
#define XXH_IMPLEMENTATION
#include <fmt/format-inl.h>
#include <xxhash.h>

// In glibc since 2.32: whether the process has a single thread. False here, so that reference counts are always atomic.
extern "C" {
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;
}

// Instantiations of templates that fmt's headers declare and its library defines.
namespace fmt {
inline namespace v9 {
namespace detail {
template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
template locale_ref::locale_ref(const std::locale&);
template std::locale locale_ref::get<std::locale>() const;
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template char decimal_point_impl(locale_ref);
template void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);
}  // namespace detail
}  // namespace v9
}  // namespace fmt
