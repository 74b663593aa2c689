# Rules for `cmake --install`: the component `command` is for users of the command, `development` for C++.
#
# The Python module and the command beside it are a separate component (python/CMakeLists.txt), which is installed only
# if it is named.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(FLYMC_CMAKE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/flymc)
set(FLYMC_PRIVATE_FOLDER lib/flymc)  # libraries that only flymc uses
set(FLYMC_BUILT_COMPONENTS "")
set(FLYMC_PRIVATE_ARROW "")

# flymc_install_library(TARGET COMPONENT): an archive, its headers, and the file that describes them to CMake.
function(flymc_install_library TARGET COMPONENT)
  install(TARGETS ${TARGET} EXPORT flymc${COMPONENT} ARCHIVE FILE_SET HEADERS COMPONENT development)
  install(EXPORT flymc${COMPONENT} NAMESPACE flymc:: FILE flymc${COMPONENT}Targets.cmake DESTINATION ${FLYMC_CMAKE_FOLDER}
          COMPONENT development)
endfunction()

flymc_install_library(flymc Core)
if(FLYMC_MPI)
  list(APPEND FLYMC_BUILT_COMPONENTS mpi)
  set_target_properties(flymc_mpi PROPERTIES EXPORT_NAME mpi)
  flymc_install_library(flymc_mpi Mpi)
endif()

set(documents ${CMAKE_INSTALL_DOCDIR})
if(FLYMC_FILES)
  list(APPEND FLYMC_BUILT_COMPONENTS files)
  set_target_properties(flymc_files PROPERTIES EXPORT_NAME files)
  flymc_install_library(flymc_files Files)
  install(TARGETS flymc_command RUNTIME COMPONENT command)
  file(RELATIVE_PATH way /${CMAKE_INSTALL_BINDIR} /${FLYMC_PRIVATE_FOLDER})
  set_property(TARGET flymc_command PROPERTY INSTALL_RPATH $ORIGIN/${way})
  if(FLYMC_MPI)
    install(TARGETS flymc_mpi_plugin LIBRARY DESTINATION ${FLYMC_PRIVATE_FOLDER} COMPONENT command)
  endif()
  install(FILES README.md CHANGELOG.md SECURITY.md CITATION.cff DESTINATION ${documents} COMPONENT command)
  install(FILES LICENSE DESTINATION ${documents} RENAME copyright COMPONENT command)
  install(DIRECTORY docs/ DESTINATION ${documents}/docs COMPONENT command FILES_MATCHING PATTERN *.md PATTERN *.svg
          PATTERN notebooks EXCLUDE PATTERN site EXCLUDE)
  install(DIRECTORY examples DESTINATION ${documents} COMPONENT command PATTERN CMakeLists.txt EXCLUDE)
endif()

# flymc_describe(WORDS FILE FOLDER...): installs the output of `flymc WORDS` as FILE in each FOLDER.
set(FLYMC_DESCRIPTIONS "")
function(flymc_describe WORDS FILE)
  set(file ${PROJECT_BINARY_DIR}/share/${FILE})
  add_custom_command(OUTPUT ${file} COMMAND flymc_command ${WORDS} > ${file} DEPENDS flymc_command VERBATIM)
  foreach(folder IN LISTS ARGN)
    install(FILES ${file} DESTINATION ${folder} COMPONENT command)
  endforeach()
  set(FLYMC_DESCRIPTIONS ${FLYMC_DESCRIPTIONS} ${file} PARENT_SCOPE)
endfunction()
if(FLYMC_FILES AND NOT FLYMC_SANITIZE)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/bash)
  flymc_describe(manual flymc.1 ${CMAKE_INSTALL_MANDIR}/man1)
  flymc_describe("completions;bash" bash/flymc ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  # If the prefix is /usr, Debian's zsh reads the second folder instead of the first.
  flymc_describe("completions;zsh" _flymc ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
                 ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  flymc_describe("completions;fish" flymc.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  add_custom_target(flymc_descriptions ALL DEPENDS ${FLYMC_DESCRIPTIONS})
endif()

# The pyarrow wheel may be removed or replaced by another version, so an installed flymc has its own copies of Arrow's
# libraries. Each finds the others beside it.
if(FLYMC_FILES AND FLYMC_ARROW_OF_WHEEL)
  foreach(library IN LISTS FLYMC_ARROW_OF_WHEEL)
    cmake_path(GET library FILENAME name)
    list(APPEND FLYMC_PRIVATE_ARROW ${name})
  endforeach()
  install(FILES ${FLYMC_ARROW_OF_WHEEL} DESTINATION ${FLYMC_PRIVATE_FOLDER} COMPONENT command)
  install(FILES ${FLYMC_ARROW_LICENCES} DESTINATION ${documents}/arrow COMPONENT command)
  message(STATUS "Arrow is copied to ${FLYMC_PRIVATE_FOLDER} by an installation, because it is from the pyarrow wheel")
endif()

configure_package_config_file(cmake/flymcConfig.cmake.in ${PROJECT_BINARY_DIR}/flymcConfig.cmake
                              INSTALL_DESTINATION ${FLYMC_CMAKE_FOLDER} PATH_VARS FLYMC_PRIVATE_FOLDER)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/flymcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/flymcConfig.cmake ${PROJECT_BINARY_DIR}/flymcConfigVersion.cmake
        DESTINATION ${FLYMC_CMAKE_FOLDER} COMPONENT development)

file(RELATIVE_PATH way /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" FLYMC_PREFIX_FROM_PKGCONFIG ${way})
configure_file(cmake/flymc.pc.in ${PROJECT_BINARY_DIR}/flymc.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/flymc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
