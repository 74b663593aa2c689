# Builds for 64-bit ARM on Debian for x86-64, and runs the tests under QEMU ("For 64-bit ARM" in docs/install.md).
#
# The libraries are Debian's packages for arm64, which are installed beside those of the machine.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
