// The page stays valid HTML, whatever the names of columns are.
#include "flymc/show/html.hpp"

#include <gtest/gtest.h>

#include "flymc/show/page.hpp"

namespace flymc {
namespace {

TEST(Html, EscapesWhatHasAMeaning) {
  EXPECT_EQ(escaped("<b> & \"c\" 'd'"), "&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(escaped("a\tb\x01"
                    "c\nd"),
            "a b\\u0001c\nd");
  EXPECT_EQ(escaped("<\xE2\x80\xAE>"), "&lt;\\u202e&gt;");  // U+202E would reverse the text
  EXPECT_EQ(escaped("Gr\xC3\xB6\xC3\x9F"
                    "e \xE2\x82\xAC \xF0\x9F\x90\x9D"),
            "Gr\xC3\xB6\xC3\x9F"
            "e \xE2\x82\xAC \xF0\x9F\x90\x9D");
}

TEST(Html, MarksBytesThatAreNoText) {
  EXPECT_EQ(escaped("a\xFF!"), "a\\xff!");
  EXPECT_EQ(escaped("\xC3"), "\\xc3");  // truncated
}

TEST(Html, APageNeedsNothingElse) {
  const std::string page = html_page("<x>", "<p>body</p>");
  EXPECT_NE(page.find("<title>&lt;x&gt;</title>"), std::string::npos);
  for (const char* elsewhere : {"http:", "https:", "src=", "@import", "url("})
    EXPECT_EQ(page.find(elsewhere), std::string::npos) << elsewhere;
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
}

}  // namespace
}  // namespace flymc
