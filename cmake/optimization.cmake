# weir_light_optimization: for code that reads files, starts processes and prints, but does not count or move gradients
# (link it PRIVATE). It compiles in about three quarters of the time; docs/decisions/builds.md has what it costs.
add_library(weir_light_optimization INTERFACE)
target_compile_options(weir_light_optimization INTERFACE $<$<CONFIG:Release>:-O1>)
