# What `cmake --install` puts where, and `cpack` into one archive: the program and all that it needs on a machine without
# Weir. The program finds the rest relative to itself, so the whole folder may be moved anywhere.
#
#   bin/weir             the program
#   lib/weir/            libraries, except the C library, which belongs to the host's loader
#   libexec/weir/        ip and tc, which labs use
#   share/weir/          files that users read and change, as in a checkout
#   share/doc/weir/      licences of all copied files
#
# NCCL and the GPU driver are the host's, loaded when first used.

install(TARGETS weir RUNTIME DESTINATION bin)

set(tools)
foreach(tool ip tc)
  find_program(WEIR_TOOL_${tool} ${tool} PATHS /usr/sbin /sbin)
  mark_as_advanced(WEIR_TOOL_${tool})
  if(WEIR_TOOL_${tool})
    file(REAL_PATH "${WEIR_TOOL_${tool}}" file)  # otherwise a link would be installed
    list(APPEND tools "${file}")
    install(PROGRAMS "${file}" DESTINATION libexec/weir RENAME ${tool})
  else()
    message(STATUS "${tool} was not found: the installed weir needs iproute2 for labs")
  endif()
endforeach()
install(CODE "set(program \"$<TARGET_FILE:weir>\")\nset(tools \"${tools}\")")
install(SCRIPT cmake/carry.cmake)

# Leaves out raw records and files that only a build can use.
install(DIRECTORY deploy docs experiments schemas topologies traces
  DESTINATION share/weir
  FILES_MATCHING PATTERN "*.json" PATTERN "*.md" PATTERN "*.sbatch" PATTERN "*.yaml"
  PATTERN architectures EXCLUDE PATTERN measured EXCLUDE PATTERN peers EXCLUDE)
install(DIRECTORY plots DESTINATION share/weir FILES_MATCHING PATTERN "*.md" PATTERN "*.py"
  PATTERN "test_*" EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES CHANGELOG.md LICENSE README.md DESTINATION share/weir)

set(CPACK_GENERATOR TGZ)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_FILE_NAME "weir-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
include(CPack)
