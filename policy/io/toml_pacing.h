// SPDX-License-Identifier: BSD-3-Clause
// [pacing], the constants of the law and which law decides: the same table in a site policy and in a scenario.
#pragma once

#include <string>

#include "policy/config/pacing.h"
#include "policy/io/toml_table.h"

namespace paced::io {

// What is right is taken, the rest is told. title: of the table, for messages.
config::Pacing read_pacing(TomlReader& reader, const TomlNode& source, std::string title = "[pacing]");

}  // namespace paced::io
