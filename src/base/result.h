// Result<T>: a value, or an Error that can happen to correct code. The whole request path returns
// these; exceptions are for start-up configuration only.
//
//   Result<Head> head = parse(bytes);
//   QQ_TRY(const auto port, parse_port(text));   // returns the Error from the enclosing function
//   QQ_CO_TRY(...)                               // the same inside a coroutine
#pragma once
#include <expected>
#include <utility>

#include "base/error.h"

namespace qq {

template <typename T = void>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(Error error) {
  return std::unexpected<Error>(std::move(error));
}

}  // namespace qq

#define QQ_TRY_CONCAT_(a, b) a##b
#define QQ_TRY_NAME_(line) QQ_TRY_CONCAT_(qq_try_, line)
#define QQ_TRY(declaration, ...)                                                             \
  auto QQ_TRY_NAME_(__LINE__) = (__VA_ARGS__);                                               \
  if (!QQ_TRY_NAME_(__LINE__)) return ::qq::fail(std::move(QQ_TRY_NAME_(__LINE__)).error()); \
  declaration = *std::move(QQ_TRY_NAME_(__LINE__))
#define QQ_CO_TRY(declaration, ...)                                                             \
  auto QQ_TRY_NAME_(__LINE__) = (__VA_ARGS__);                                                  \
  if (!QQ_TRY_NAME_(__LINE__)) co_return ::qq::fail(std::move(QQ_TRY_NAME_(__LINE__)).error()); \
  declaration = *std::move(QQ_TRY_NAME_(__LINE__))
// For Result<void>.
#define QQ_CHECK(...)                                                                                   \
  do {                                                                                                  \
    if (auto qq_checked = (__VA_ARGS__); !qq_checked) return ::qq::fail(std::move(qq_checked).error()); \
  } while (false)
#define QQ_CO_CHECK(...)                                                                                   \
  do {                                                                                                     \
    if (auto qq_checked = (__VA_ARGS__); !qq_checked) co_return ::qq::fail(std::move(qq_checked).error()); \
  } while (false)
