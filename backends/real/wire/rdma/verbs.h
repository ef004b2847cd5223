// libibverbs and librdmacm as far as they are used here, loaded when they are first needed: so one build runs
// where RDMA is and where it is not, and always with the host's own libraries, whose drivers fit its devices.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <string>
#include <vector>

#include "core/base/result.h"

namespace weir::real::rdma {

/// Functions that are called once in a while. Those of the data path (ibv_post_send, ibv_post_recv,
/// ibv_poll_cq, ibv_req_notify_cq) are inline, and go to the device's driver without the library.
struct Verbs {
  decltype(&::ibv_get_device_list) get_device_list;
  decltype(&::ibv_free_device_list) free_device_list;
  decltype(&::ibv_open_device) open_device;
  decltype(&::ibv_close_device) close_device;
  decltype(&::ibv_query_device) query_device;
  int (*query_port)(ibv_context*, std::uint8_t, ibv_port_attr*);  // fills what it knows of
  decltype(&::_ibv_query_gid_table) query_gid_table;
  decltype(&::ibv_get_async_event) get_async_event;
  decltype(&::ibv_ack_async_event) ack_async_event;
  decltype(&::ibv_event_type_str) event_type_str;
  decltype(&::ibv_alloc_pd) alloc_pd;
  decltype(&::ibv_dealloc_pd) dealloc_pd;
  decltype(&::ibv_reg_mr) reg_mr;
  decltype(&::ibv_reg_dmabuf_mr) reg_dmabuf_mr;  // null in libraries from before 2021
  decltype(&::ibv_dereg_mr) dereg_mr;
  decltype(&::ibv_create_comp_channel) create_comp_channel;
  decltype(&::ibv_destroy_comp_channel) destroy_comp_channel;
  decltype(&::ibv_create_cq) create_cq;
  decltype(&::ibv_destroy_cq) destroy_cq;
  decltype(&::ibv_get_cq_event) get_cq_event;
  decltype(&::ibv_ack_cq_events) ack_cq_events;
  decltype(&::ibv_create_qp) create_qp;
  decltype(&::ibv_modify_qp) modify_qp;
  decltype(&::ibv_destroy_qp) destroy_qp;
  decltype(&::ibv_wc_status_str) wc_status_str;

  decltype(&::rdma_create_id) create_id;
  decltype(&::rdma_bind_addr) bind_addr;
  decltype(&::rdma_destroy_id) destroy_id;

  /// As long as the process lives. Fails if the system's loader does not find the libraries, or finds others.
  /// Any thread may ask.
  static Result<const Verbs*> load();
};

/// All GIDs of a device's ports; none if it does not tell.
std::vector<ibv_gid_entry> all_gids(const Verbs& verbs, ibv_context* context, const ibv_device_attr& device);

/// That the call failed, with what the error number says.
tl::unexpected<Error> failed(const std::string& what, int error_number);

}  // namespace weir::real::rdma
