// What recordings come to, kept in the tree as one line for each: the hash of its name and what was made of
// it, which may be a hash as well, since the traffic is other people's. QQ_GOLDEN_UPDATE=1 writes the file
// anew, QQ_SHOW=part-of-a-name prints what is hashed.
#pragma once
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "recordings/recordings.h"

namespace qq::recordings {

class Summary {
 public:
  // `title` is the file's first line.
  Summary(std::string path, std::string_view title) : path_(std::move(path)), lines_("# ") {
    lines_.append(title).append("\n");
  }

  void add_hash(const Recording& recording, const std::string& text) {
    const char* const shown = std::getenv("QQ_SHOW");
    if (shown != nullptr && recording.name.find(shown) != std::string::npos)
      std::printf("==== %s\n%s\n", recording.name.c_str(), text.c_str());
    add(recording, hash(text));
  }
  void add(const Recording& recording, const std::string& line) {
    const std::string key = hash(recording.name);
    names_[key] = recording.name;
    lines_.append(key).append(" ").append(line).append("\n");
  }

  // Call it once, after the last one was added.
  void compare() const {
    if (std::getenv("QQ_GOLDEN_UPDATE") != nullptr) {
      std::ofstream(path_, std::ios::binary) << lines_;
      return;
    }
    std::ifstream in(path_, std::ios::binary);
    ASSERT_TRUE(in) << path_;
    std::istringstream now(lines_);
    std::string then_line;
    for (std::string now_line; std::getline(now, now_line);) {
      std::getline(in, then_line);
      const auto name = names_.find(now_line.substr(0, now_line.find(' ')));
      EXPECT_EQ(now_line, then_line) << (name == names_.end() ? path_ : name->second);
    }
    EXPECT_FALSE(std::getline(in, then_line)) << "more in " << path_ << ": " << then_line;
  }

 private:
  std::string path_;
  std::string lines_;
  std::map<std::string, std::string> names_;  // by their hash
};

}  // namespace qq::recordings
