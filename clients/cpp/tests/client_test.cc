// What the table of clients/conformance does not reach: scopes, wrappers, bad values.
#include <cstdio>
#include <cstdlib>

#include "tensorloom/ops.h"
#include "tensorloom/tensorflow.h"

namespace tl = tensorloom;

static void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::exit(1);
}

template <typename E, typename F>
static bool throws(F f) {
  try {
    f();
  } catch (const E&) {
    return true;
  }
  return false;
}

int main() {
  const tl::Scope s;
  const auto name = [](tl::Output o) { return std::string(TF_OperationName(o.oper)); };
  check(name(s.constant(1.0f)) == "Const", "a first name is as it is");
  check(name(s.constant(1.0f)) == "Const_1", "a second is numbered");
  check(name(s.sub_scope("a").constant(1.0f)) == "a/Const", "a scope's names");
  check(name(s.sub_scope("a").constant(1.0f)) == "a_1/Const", "a second scope's names");

  const auto parts = tl::ops::Split(s, s.constant(int32_t{0}), s.constant(std::vector<float>{1, 2, 3, 4}), 2);
  const tl::Session session(s.graph());
  const auto sum = session.run({}, {tl::ops::AddN(s, parts)});
  check(sum[0].values<float>() == std::vector<float>{4, 6}, "lists in and out");

  const auto text = s.constant(std::string("a\0b", 3));
  check(session.run({}, {text})[0].values<std::string>()[0] == std::string("a\0b", 3), "bytes");
  check(throws<tl::Error>([&] { tl::ops::MatMul(s, text, text); }), "strings have no product");
  check(throws<std::invalid_argument>([] { tl::Tensor({2}, std::vector<float>{1}); }), "too few values");
  check(throws<std::invalid_argument>([&] { sum[0].values<int32_t>(); }), "another dtype");
  return 0;
}
