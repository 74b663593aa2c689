// Characters that a terminal would act upon are shown as their numbers, and all others stay.
#include "flymc/core/shown.hpp"

#include <gtest/gtest.h>

namespace flymc {
namespace {

TEST(Shown, WhatMovesTheCursorOrTurnsTheLineIsEscaped) {
  EXPECT_EQ(shown("a\x1b[31mb\rc\x07\x7f"), "a\\u001b[31mb\\u000dc\\u0007\\u007f");
  EXPECT_EQ(shown(std::string_view("a\0b", 3)), "a\\u0000b");
  EXPECT_EQ(shown("\xc2\x9b!"), "\\u009b!");
  EXPECT_EQ(shown("x\xe2\x80\xae!csv.exe"), "x\\u202e!csv.exe");
  for (const char* mark : {"\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaa",
                           "\xe2\x80\xad", "\xe2\x81\xa6", "\xe2\x81\xa9", "\xd8\x9c", "\xef\xbb\xbf"})
    EXPECT_TRUE(shown(mark).starts_with("\\u")) << shown(mark);
}

TEST(Shown, BytesThatAreNoTextAreEscaped) {
  EXPECT_EQ(shown("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(shown("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(shown("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(shown("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(shown("\xe2\x82"), "\\xe2\\x82");
}

TEST(Shown, TextsStay) {
  for (const char* text : {"", "a b\n\tc", "gr\xc3\xb6\xc3\x9f", "\xe6\xbc\xa2", "\xf0\x9f\x94\xa5",
                           "\xe2\x96\x88\xe2\x80\xb9", "\xd7\xa9"}) {
    EXPECT_EQ(shown(text), text);
    EXPECT_TRUE(is_utf8(text));
  }
}

}  // namespace
}  // namespace flymc
