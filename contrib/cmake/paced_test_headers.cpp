// SPDX-License-Identifier: BSD-3-Clause
// A target needs a source; this one carries the precompiled headers of the tests.
