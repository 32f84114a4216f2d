#include "app/cgroup_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace qq::app {
namespace {

class CgroupMemory : public testing::Test {
 protected:
  ~CgroupMemory() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& path, std::string_view text) {
    const std::filesystem::path file = folder_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::optional<std::size_t> limit() { return cgroup_memory_limit(folder_ / "membership", folder_ / "fs"); }

  std::filesystem::path folder_ = [] {
    std::string name = std::filesystem::temp_directory_path() / "queqiao-cgroup-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return name;
  }();
};

TEST_F(CgroupMemory, AContainersOwnGroupIsTheRoot) {
  write("membership", "0::/\n");
  write("fs/memory.max", "1073741824\n");
  EXPECT_EQ(limit(), 1'073'741'824U);
}

TEST_F(CgroupMemory, AUnitsGroupIsWhereTheProcessSays) {
  write("membership", "0::/system.slice/queqiao.service\n");
  write("fs/system.slice/queqiao.service/memory.max", "500000000\n");
  write("fs/system.slice/memory.max", "max\n");
  EXPECT_EQ(limit(), 500'000'000U);
}

TEST_F(CgroupMemory, TheTightestParentCounts) {
  write("membership", "0::/a.slice/b.slice/c.service\n");
  write("fs/a.slice/memory.max", "300\n");
  write("fs/a.slice/b.slice/memory.max", "200\n");
  write("fs/a.slice/b.slice/c.service/memory.max", "max\n");
  EXPECT_EQ(limit(), 200U);
}

TEST_F(CgroupMemory, VersionOneHasItsMemoryApart) {
  write("membership", "11:cpuset:/x\n4:cpu,memory:/docker/abc\n1:name=systemd:/y\n0::/\n");
  write("fs/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("fs/memory/docker/abc/memory.limit_in_bytes", "700\n");
  EXPECT_EQ(limit(), 700U);
}

TEST_F(CgroupMemory, NoLimitIsNone) {
  EXPECT_EQ(limit(), std::nullopt) << "no such files";
  write("membership", "0::/a\nnonsense\n\n:\n");
  write("fs/memory.max", "max\n");
  write("fs/a/memory.max", "");
  EXPECT_EQ(limit(), std::nullopt);
}

}  // namespace
}  // namespace qq::app
