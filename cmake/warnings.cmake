# weir_warnings: the warnings of all our targets (link it PRIVATE). Imported targets are SYSTEM to CMake, so that
# headers of other projects cause no warnings.
add_library(weir_warnings INTERFACE)

set(weir_warning_flags
    -Wall
    -Wextra
    -Wpedantic
    -Wcast-align
    -Wconversion
    -Wdouble-promotion
    -Wextra-semi
    -Wformat=2
    -Wimplicit-fallthrough
    -Wnon-virtual-dtor
    -Wold-style-cast
    -Woverloaded-virtual
    -Wshadow
    -Wvla
    # A new enumerator, as of a kind of op, is an error in each switch that must decide about it.
    -Werror=switch
    # Designated initializers may leave out members with a default.
    -Wno-missing-field-initializers)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND weir_warning_flags -Wduplicated-cond -Wlogical-op)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 sees overlapping copies in correct concatenations of std::string.
    list(APPEND weir_warning_flags -Wno-restrict)
  endif()
endif()

if(WEIR_WERROR)
  list(APPEND weir_warning_flags -Werror)
endif()

target_compile_options(weir_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${weir_warning_flags}>")
