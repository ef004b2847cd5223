#include "backends/real/discovery/sysfs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/formats/nccl/nccl_attributes.h"

namespace weir::real {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostLanes = 32;         // 255 means unknown
constexpr std::int64_t kMostMbps = 10'000'000;  // 65535 means unknown too
constexpr std::int64_t kUnknownMbps = 65535;

/// In GT/s; 0 if the text has none.
double transfers(const std::string& speed) { return std::strtod(speed.c_str(), nullptr); }

}  // namespace

PcieLink narrower(const PcieLink& one, const PcieLink& other) {
  PcieLink link = one;
  if (link.speed.empty() || (!other.speed.empty() && transfers(other.speed) < transfers(link.speed)))
    link.speed = other.speed;
  if (link.width == 0 || (other.width > 0 && other.width < link.width)) link.width = other.width;
  return link;
}

std::string Sysfs::line(const std::string& path) const {
  std::ifstream file(root_ + "/" + path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<std::int64_t> Sysfs::number(const std::string& path) const {
  const std::string text = line(path);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::vector<std::string> Sysfs::names(const std::string& folder) const {
  std::vector<std::string> names;
  std::error_code ignored;
  for (fs::directory_iterator entry(root_ + "/" + folder, ignored), end; entry != end;
       entry.increment(ignored)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool Sysfs::exists(const std::string& path) const {
  std::error_code ignored;
  return fs::exists(root_ + "/" + path, ignored);
}

std::string Sysfs::target(const std::string& path) const {
  std::error_code error;
  const fs::path target = fs::canonical(root_ + "/" + path, error);
  return error ? std::string() : target.string();
}

PcieLink Sysfs::fastest(const std::string& device) const {
  const std::string folder = "bus/pci/devices/" + device;
  PcieLink link;
  if (const std::string speed = line(folder + "/max_link_speed"); transfers(speed) > 0) link.speed = speed;
  const auto width = number(folder + "/max_link_width");
  if (width && *width > 0 && *width <= kMostLanes) link.width = static_cast<int>(*width);
  return link;
}

void Sysfs::add_links(DevicePlace& place, const std::string& port) const {
  if (place.id.empty()) return;
  place.own = fastest(place.id);
  place.link = port.empty() ? place.own : narrower(place.own, fastest(port));
  const auto lanes = number("bus/pci/devices/" + place.id + "/current_link_width");
  if (lanes && *lanes > 0 && *lanes <= kMostLanes) place.lanes_now = static_cast<int>(*lanes);
}

void Sysfs::add_broadcom(HostParts::Switch& one) const {
  const std::string folder = "bus/pci/devices/" + one.place.id;
  const std::string vendor = line(folder + "/vendor");
  const std::string device = line(folder + "/device");
  const std::string subsystem_vendor = line(folder + "/subsystem_vendor");
  const std::string subsystem_device = line(folder + "/subsystem_device");
  const nccl::PciTexts texts = {vendor, device, subsystem_vendor, subsystem_device};
  one.broadcom_upper = broadcom_generation(texts, nccl::SwitchHalf::kUpper);
  one.broadcom_lower = broadcom_generation(texts, nccl::SwitchHalf::kLower);
}

void Sysfs::add_interface(HostParts::Nic& nic) const {
  const std::string folder = "class/net/" + nic.name;
  const auto mbps = number(folder + "/speed");
  if (mbps && *mbps > 0 && *mbps <= kMostMbps && *mbps != kUnknownMbps) nic.mbps = *mbps;
  const std::string state = line(folder + "/operstate");
  nic.up = state.empty() || state == "up" || state == "unknown";  // some drivers report no state
  nic.mtu = number(folder + "/mtu").value_or(0);
  nic.driver = fs::path(target(folder + "/device/driver")).filename().string();
  if (exists(folder + "/device/physfn")) nic.kind = HostParts::Nic::Kind::kVirtualFunction;
  if (target(folder + "/device").find("/usb") != std::string::npos) nic.kind = HostParts::Nic::Kind::kUsb;
}

std::vector<HostParts::Nic> Sysfs::infiniband_ports(const std::string& device) const {
  const std::string folder = "class/infiniband/" + device;
  std::vector<HostParts::Nic> ports;
  for (const std::string& port : names(folder + "/ports")) {
    const std::string own = fmt::format("{}/ports/{}", folder, port);
    if (line(own + "/link_layer") != "InfiniBand") continue;
    HostParts::Nic nic;
    nic.name = fmt::format("{} port {}", device, port);
    nic.infiniband = true;
    nic.up = line(own + "/state").find("ACTIVE") != std::string::npos;
    const double gbps = transfers(line(own + "/rate"));  // "400 Gb/sec (4X NDR)"
    if (gbps > 0) nic.mbps = std::llround(gbps * 1000);
    nic.driver = fs::path(target(folder + "/device/driver")).filename().string();
    if (exists(folder + "/device/physfn")) nic.kind = HostParts::Nic::Kind::kVirtualFunction;
    ports.push_back(nic);
  }
  return ports;
}

}  // namespace weir::real
