//! Estimates what hosted image services would charge for the requests of a log, at their public prices.
//!
//! The table has a date, because prices change: check its sources before you rely on them.

/// The usage of a service in a month.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Usage {
    /// Number of distinct images, each of which is generated once.
    pub(super) made: f64,
    /// Number of responses that are sent.
    pub(super) sent: f64,
    /// Total bytes of the distinct images.
    pub(super) made_bytes: f64,
    /// Total bytes of the responses.
    pub(super) sent_bytes: f64,
}

/// The price list of a service.
pub(super) struct Price {
    pub(super) service: &'static str,
    /// The terms: what the service counts, and at which price.
    pub(super) terms: &'static str,
    /// The URL of the price list.
    pub(super) source: &'static str,
    /// Dollars per month, as a range; `None` if the price is only by contract.
    pub(super) cost: fn(&Usage) -> Option<(f64, f64)>,
}

/// The date on which the price lists were read.
pub(super) const READ: &str = "2026-11-28";

pub(super) const ALL: &[Price] = &[
    Price {
        service: "Vercel",
        terms: "by region $0.05 to $0.0812 for 1000 transformations, $4.00 to $6.40 for a million units of 8 KB written, and \
                at most as many units read as are sent, at $0.40 to $0.64 for a million; without what a plan includes, and \
                without data transfer",
        source: "vercel.com/docs/image-optimization/limits-and-pricing",
        cost: vercel,
    },
    Price {
        service: "Cloudflare Images",
        terms: "$0.50 for 1000 unique transformations a month after the first 5000; images stored elsewhere",
        source: "developers.cloudflare.com/images/pricing",
        cost: cloudflare,
    },
    Price {
        service: "Cloudinary",
        terms: "a credit is 1000 transformations, 1 GB sent or 1 GB stored; 25 credits free, $99 for 225, $249 for 600, $549 \
                for 1350, above that by contract; only what was made is counted as stored",
        source: "cloudinary.com/documentation/billing_and_plans for credits; prices of plans from transcriptions of \
                 cloudinary.com/pricing, the page itself could not be read",
        cost: cloudinary,
    },
    Price {
        service: "imgix",
        terms: "a credit is 500 renders, 1 GB sent or half a GB cached; $25 for 100 and $0.25 for each further one, $75 for 375 \
                ($0.20), $150 for 830 ($0.18), $300 for 1875 ($0.16), $500 for 3570 ($0.12)",
        source: "imgix.com/faq-categories/credit-usage-value for credits; prices of plans from a transcription of \
                 imgix.com/pricing of 2026-05-04, the page itself could not be read",
        cost: imgix,
    },
];

/// Bytes in a gigabyte, as services count.
const GB: f64 = 1e9;

fn vercel(usage: &Usage) -> Option<(f64, f64)> {
    // Each image occupies whole units, so half a unit per image is added on average.
    let units = |bytes: f64, images: f64| bytes / 8192.0 + images / 2.0;
    let writes = units(usage.made_bytes, usage.made) / 1e6;
    let reads = units(usage.sent_bytes, usage.sent) / 1e6;
    let low = usage.made / 1e3 * 0.05 + writes * 4.0;
    let high = usage.made / 1e3 * 0.0812 + writes * 6.4 + reads * 0.64;
    Some((low, high))
}

fn cloudflare(usage: &Usage) -> Option<(f64, f64)> {
    let cost = (usage.made - 5000.0).max(0.0) / 1e3 * 0.5;
    Some((cost, cost))
}

fn cloudinary(usage: &Usage) -> Option<(f64, f64)> {
    let credits = usage.made / 1e3 + (usage.sent_bytes + usage.made_bytes) / GB;
    let plans = [(25.0, 0.0), (225.0, 99.0), (600.0, 249.0), (1350.0, 549.0)];
    let plan = plans.into_iter().find(|(most, _)| credits <= *most);
    plan.map(|(_, cost)| (cost, cost))
}

fn imgix(usage: &Usage) -> Option<(f64, f64)> {
    let credits = usage.made / 500.0 + (usage.sent_bytes + 2.0 * usage.made_bytes) / GB;
    let plans = [
        (100.0, 25.0, 0.25),
        (375.0, 75.0, 0.2),
        (830.0, 150.0, 0.18),
        (1875.0, 300.0, 0.16),
        (3570.0, 500.0, 0.12),
    ];
    let costs = plans.map(|(most, cost, more)| cost + (credits - most).max(0.0) * more);
    let cost = costs.into_iter().fold(f64::INFINITY, f64::min);
    Some((cost, cost))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOP: Usage = Usage {
        made: 10_000.0,
        sent: 1e6,
        made_bytes: 10_000.0 * 40_960.0,
        sent_bytes: 40.96e9,
    };

    #[test]
    fn costs_are_those_of_the_price_lists() {
        assert_eq!(cloudflare(&SHOP), Some((2.5, 2.5)));
        assert_eq!(cloudinary(&SHOP), Some((99.0, 99.0)));
        let (low, high) = vercel(&SHOP).expect("a price");
        assert!(
            (low - (0.5 + 0.055 * 4.0)).abs() < 1e-9 && high > low,
            "{low} {high}"
        );
        assert_eq!(imgix(&SHOP), Some((25.0, 25.0)));
        let much = Usage {
            sent_bytes: 1e13,
            ..SHOP
        };
        assert_eq!(cloudinary(&much), None);
    }
}
