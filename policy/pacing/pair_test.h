// SPDX-License-Identifier: BSD-3-Clause
// An always-valid test of paired differences. Within a pair the order of the two blocks is drawn by a coin, so if the setting has no
// effect, D = log T_control - log T_setting is symmetric about 0 given all that came before, whatever the noise's
// distribution and its dependence between pairs. For any odd function h with |h| <= 1 then E[1 + h(D)] = 1, and the product
//
//     W_n = mean over r of prod_t (1 + tanh(r D_t / s_t)),   r in {0.4, 0.9, 2}, s_t known before pair t
//
// is a non-negative martingale that starts at 1: the wealth of a gambler who bets on the sign of D. By Ville's inequality it ever reaches
// 1/a with probability at most a, however often one looks (peeking is allowed). Since exp(x)/cosh(x) = 1 + tanh(x) and
// cosh(x) <= exp(x^2/2), each factor is at least exp(x - x^2/2) with x = r D / s: the test is never weaker than the self-normalised
// supermartingale of the same grid.
//
// Sources: de la Pena 1999, "A general class of exponential inequalities for martingales and ratios", Ann. Probab. 27 (symmetric
// differences); Ville 1939; Howard, Ramdas, McAuliffe, Sekhon 2021, "Time-uniform, nonparametric, nonasymptotic confidence
// sequences", Ann. Stat. 49; Waudby-Smith, Ramdas 2024, "Estimating means of bounded random variables by betting", JRSS-B 86.
#pragma once

#include <cstdint>

namespace paced::pacing {

inline constexpr std::uint32_t pair_limit = 256;

class PairTest {
public:
    enum class Side : std::uint8_t { above, below };
    // What is to be refuted: "the true shift is at most `shift`" (above), or "at least" (below).
    struct Null {
        Side side = Side::above;
        double shift = 0;
    };
    struct Bounds {
        double low = 0, high = 0;
    };

    // scale: what one D is expected to scatter by (standard deviation); a guess that only the first pairs lean on.
    void clear(double scale, Null null);
    // When pair_limit is reached, the older half is forgotten: the wealth is then that of the younger half.
    void add(double difference);
    std::uint32_t count() const { return count_; }
    double mean() const;
    double deviation() const;  // standard deviation of one D, with the guess as two pairs' worth of data
    // log W against the null.
    double log_wealth() const;
    // The shifts that are not rejected at error/2 from either side, within mean -+ 2. Slower: some 40 passes over all pairs.
    Bounds bounds(double error) const;

private:
    static constexpr std::uint32_t bet_count = 3;
    double log_wealth(Null null) const;

    Null null_;
    float difference_[pair_limit] = {};
    float scale_at_[pair_limit] = {};  // s_t, from the pairs before t
    std::uint32_t count_ = 0;
    double guess_ = 0.1;
    double sum_ = 0, squares_ = 0;     // squares: of winsorised residuals from the mean before, for s_t
    double logs_[bet_count] = {};      // of each bet's own product, against null_
};

}  // namespace paced::pacing
