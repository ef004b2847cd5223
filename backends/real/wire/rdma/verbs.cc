#include "backends/real/wire/rdma/verbs.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace weir::real::rdma {
namespace {

class Library {
 public:
  explicit Library(const char* name) : name_(name), library_(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) missing_ = fmt::format("RDMA is not available: {}", ::dlerror());
  }

  template <class Function>
  void find(const char* name, Function& function) {
    if (!missing_.empty()) return;
    function = reinterpret_cast<Function>(::dlsym(library_, name));  // NOLINT: dlsym returns void*
    if (function == nullptr) missing_ = fmt::format("RDMA is not available: {} lacks {}", name_, name);
  }

  template <class Function>
  void find_if_there(const char* name, Function& function) {
    if (missing_.empty()) function = reinterpret_cast<Function>(::dlsym(library_, name));  // NOLINT: as above
  }

  const std::string& missing() const { return missing_; }

 private:
  const char* name_;
  void* library_;  // stays loaded as long as the process lives
  std::string missing_;
};

Result<Verbs> loaded() {
  Verbs verbs{};
  Library library("libibverbs.so.1");
  library.find("ibv_get_device_list", verbs.get_device_list);
  library.find("ibv_free_device_list", verbs.free_device_list);
  library.find("ibv_open_device", verbs.open_device);
  library.find("ibv_close_device", verbs.close_device);
  library.find("ibv_query_device", verbs.query_device);
  library.find("ibv_query_port", verbs.query_port);
  library.find("_ibv_query_gid_table", verbs.query_gid_table);
  library.find("ibv_get_async_event", verbs.get_async_event);
  library.find("ibv_ack_async_event", verbs.ack_async_event);
  library.find("ibv_event_type_str", verbs.event_type_str);
  library.find("ibv_alloc_pd", verbs.alloc_pd);
  library.find("ibv_dealloc_pd", verbs.dealloc_pd);
  library.find("ibv_reg_mr", verbs.reg_mr);
  library.find_if_there("ibv_reg_dmabuf_mr", verbs.reg_dmabuf_mr);
  library.find("ibv_dereg_mr", verbs.dereg_mr);
  library.find("ibv_create_comp_channel", verbs.create_comp_channel);
  library.find("ibv_destroy_comp_channel", verbs.destroy_comp_channel);
  library.find("ibv_create_cq", verbs.create_cq);
  library.find("ibv_destroy_cq", verbs.destroy_cq);
  library.find("ibv_get_cq_event", verbs.get_cq_event);
  library.find("ibv_ack_cq_events", verbs.ack_cq_events);
  library.find("ibv_create_qp", verbs.create_qp);
  library.find("ibv_modify_qp", verbs.modify_qp);
  library.find("ibv_destroy_qp", verbs.destroy_qp);
  library.find("ibv_wc_status_str", verbs.wc_status_str);
  if (!library.missing().empty()) return failure(library.missing());
  Library manager("librdmacm.so.1");
  manager.find("rdma_create_id", verbs.create_id);
  manager.find("rdma_bind_addr", verbs.bind_addr);
  manager.find("rdma_destroy_id", verbs.destroy_id);
  if (!manager.missing().empty()) return failure(manager.missing());
  return verbs;
}

}  // namespace

Result<const Verbs*> Verbs::load() {
  static const Result<Verbs> verbs = loaded();
  if (!verbs) return tl::unexpected(verbs.error());
  return &*verbs;
}

std::vector<ibv_gid_entry> all_gids(const Verbs& verbs, ibv_context* context, const ibv_device_attr& device) {
  std::size_t room = 0;
  for (std::uint8_t port = 1; port <= device.phys_port_cnt; ++port) {
    ibv_port_attr attributes = {};
    if (verbs.query_port(context, port, &attributes) == 0)
      room += static_cast<std::size_t>(attributes.gid_tbl_len);
  }
  std::vector<ibv_gid_entry> gids(room);
  const ssize_t known = verbs.query_gid_table(context, gids.data(), gids.size(), 0, sizeof(ibv_gid_entry));
  gids.resize(static_cast<std::size_t>(std::max<ssize_t>(known, 0)));
  return gids;
}

tl::unexpected<Error> failed(const std::string& what, int error_number) {
  return failure(fmt::format("{}: {}", what, std::generic_category().message(error_number)));
}

}  // namespace weir::real::rdma
