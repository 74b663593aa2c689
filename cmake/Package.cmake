# A Debian package of the command, its documentation and, if Arrow is from the pyarrow wheel, Arrow's libraries:
# `cpack --config build/release/CPackConfig.cmake -B FOLDER`, as tests/install/debian does.
#
# dpkg-shlibdeps finds the packages whose libraries the command needs, in the versions of the system that built it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME flymc)
set(CPACK_PACKAGE_CONTACT "The flymc developers" CACHE STRING "Maintainer of the Debian package: a name and an address")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME flymc)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION
    "Logistic, Poisson, linear, survival and other regressions by Firefly Monte Carlo,\n which evaluates few rows in each iteration. The package has the command flymc.")
include(CPack)
