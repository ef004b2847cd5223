# Runs at installation: copies the libraries that weir and its tools need, and all licences. Expects `program`,
# `tools` and CMAKE_INSTALL_PREFIX.
cmake_minimum_required(VERSION 3.25)

set(into "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${program} ${tools}
  RESOLVED_DEPENDENCIES_VAR libraries
  UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(anl|c|dl|m|mvec|nss_.*|pthread|resolv|rt|util)\\.so")
if(missing)
  message(FATAL_ERROR "Cannot find these libraries: ${missing}")
endif()

# Each under the name that the loader looks for, without the distribution's links between names.
file(MAKE_DIRECTORY "${into}/lib/weir")
set(files ${tools})
foreach(library IN LISTS libraries)
  get_filename_component(name "${library}" NAME)
  file(REAL_PATH "${library}" file)
  message(STATUS "Carrying: ${file}")
  file(COPY_FILE "${file}" "${into}/lib/weir/${name}" ONLY_IF_DIFFERENT)
  list(APPEND files "${file}")
endforeach()

# The packages of these files. Distributions that merged /bin and /lib into /usr still list some files in the old folders.
find_program(dpkg_query dpkg-query)
if(NOT dpkg_query)
  message(WARNING "Licences are copied with the help of dpkg-query, which is missing here: add those of lib/weir")
  return()
endif()
list(TRANSFORM files REPLACE "^/usr/" "/")
set(merged ${files})
list(TRANSFORM merged PREPEND "/usr")
execute_process(COMMAND "${dpkg_query}" --search ${files} ${merged} OUTPUT_VARIABLE lines ERROR_QUIET)
string(REPLACE "\n" ";" lines "${lines}")
foreach(line IN LISTS lines)
  if(line MATCHES "^([^ ]+): (/usr)?(/.*)$")
    set("owner_of_${CMAKE_MATCH_3}" "${CMAKE_MATCH_1}")
  endif()
endforeach()
# Header-only libraries are compiled in, so no file shows them.
set(packages cppzmq-dev libcli11-dev libeigen3-dev libexpected-dev nlohmann-json3-dev)
foreach(file IN LISTS files)
  if(DEFINED "owner_of_${file}")
    list(APPEND packages "${owner_of_${file}}")
  else()
    message(WARNING "No package owns ${file}: add its licence to share/doc/weir/licenses")
  endif()
endforeach()
list(REMOVE_DUPLICATES packages)
list(SORT packages)

set(licenses "${into}/share/doc/weir/licenses")
set(table "Packages whose files this folder carries, as the distribution that it was made on has them, with their sources:\n\n")
foreach(package IN LISTS packages)
  string(REGEX REPLACE ":.*" "" name "${package}")
  execute_process(COMMAND "${dpkg_query}" --show "--showformat=\${source:Package} \${source:Version}" "${package}"
    OUTPUT_VARIABLE source COMMAND_ERROR_IS_FATAL ANY)
  string(APPEND table "${name}: ${source}\n")
  file(MAKE_DIRECTORY "${licenses}/${name}")
  file(COPY_FILE "/usr/share/doc/${name}/copyright" "${licenses}/${name}/copyright" ONLY_IF_DIFFERENT)
endforeach()
file(WRITE "${licenses}/packages.txt" "${table}")
# Texts that these licences refer to by their place in Debian.
file(GLOB texts RELATIVE /usr/share/common-licenses /usr/share/common-licenses/*)
file(MAKE_DIRECTORY "${licenses}/common-licenses")
foreach(text IN LISTS texts)
  file(COPY_FILE "/usr/share/common-licenses/${text}" "${licenses}/common-licenses/${text}" ONLY_IF_DIFFERENT)
endforeach()
