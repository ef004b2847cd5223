# weir_light_optimization: for code that reads files, starts processes and prints, but does not count or move gradients
# (link it PRIVATE). It compiles in three quarters of the time, and no command becomes slower that one could measure.
add_library(weir_light_optimization INTERFACE)
target_compile_options(weir_light_optimization INTERFACE $<$<CONFIG:Release>:-O1>)
