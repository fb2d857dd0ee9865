//! From values to pixels, linear or logarithmic.

/// Ratios up to this one are drawn on a linear scale.
const LINEAR_UP_TO: f64 = 25.0;
const MOST_TICKS: usize = 8;
/// A scale covers only values in this range. A ratio can be 0 or infinite, if a contestant finished nothing in its
/// time.
const DRAWABLE: (f64, f64) = (1e-9, 1e15);

/// An axis.
pub struct Scale {
    log: bool,
    values: (f64, f64),
    pixels: (i32, i32),
}

impl Scale {
    /// Creates a scale for ratios from `least` to `most`. It is linear from 0 if `most` is at most 25, and logarithmic
    /// otherwise.
    pub fn of_ratios(least: f64, most: f64, pixels: (i32, i32)) -> Self {
        let [least, most] = [least, most].map(drawable);
        if most <= LINEAR_UP_TO {
            return Scale { log: false, values: (0.0, most), pixels };
        }
        Scale { log: true, values: (least.min(1.0), most), pixels }
    }

    /// Creates a logarithmic scale between powers of ten.
    pub fn of_decades(least: f64, most: f64, pixels: (i32, i32)) -> Self {
        let [least, most] = [least, most].map(drawable);
        let low = 10f64.powf(least.max(1.0).log10().floor());
        let high = 10f64.powf(most.max(10.0 * low).log10().ceil());
        Scale { log: true, values: (low, high), pixels }
    }

    pub fn is_log(&self) -> bool {
        self.log
    }

    fn part(&self, value: f64) -> f64 {
        let (low, high) = self.values;
        match self.log {
            true => (value.max(f64::MIN_POSITIVE) / low).ln() / (high / low).ln(),
            false => (value - low) / (high - low),
        }
    }

    /// Returns the pixel of a value; values outside the scale lie at its edge.
    pub fn pixel(&self, value: f64) -> i32 {
        let (from, to) = self.pixels;
        from + (self.part(value).clamp(0.0, 1.0) * f64::from(to - from)).round() as i32
    }

    /// Returns the value at which bars begin.
    pub fn base(&self) -> f64 {
        if self.log { 1.0 } else { 0.0 }
    }

    /// Returns the values at which grid lines are drawn. On a linear scale, these are the multiples of a fixed step. On
    /// a logarithmic scale, these are 1, 2 and 5 of each decade, or only powers of ten if there would be too many
    /// lines.
    pub fn ticks(&self) -> Vec<f64> {
        let (low, high) = self.values;
        let within = |value: &f64| *value >= low * 0.999 && *value <= high * 1.001;
        if !self.log {
            let steps = [0.2, 0.5, 1.0, 2.0, 5.0];
            let step = steps.into_iter().find(|step| high / step <= MOST_TICKS as f64);
            let step = step.unwrap_or(5.0);
            return (0..).map(|count| f64::from(count) * step).take_while(within).collect();
        }
        let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let with = |digits: &'static [f64]| -> Vec<f64> {
            let decade = |power: i32| digits.iter().map(move |digit| digit * 10f64.powi(power));
            decades.clone().flat_map(decade).filter(within).collect()
        };
        let fine = with(&[1.0, 2.0, 5.0]);
        if fine.len() <= MOST_TICKS { fine } else { with(&[1.0]) }
    }
}

/// Returns the value, or the nearest one that a scale can cover. Returns 1 if the value is not a number.
fn drawable(value: f64) -> f64 {
    if value.is_nan() { 1.0 } else { value.clamp(DRAWABLE.0, DRAWABLE.1) }
}

/// Returns positions for labels near `wanted`, at least `gap` apart, and within `range` if they fit. Labels that
/// would overlap are placed around the middle of their wanted positions.
pub fn spread_out(wanted: &[i32], gap: i32, range: (i32, i32)) -> Vec<i32> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&index| wanted[index]);
    // The first position of each run of adjacent labels, and the labels.
    let mut runs: Vec<(i32, Vec<usize>)> = Vec::new();
    for index in order {
        let mut labels = vec![index];
        loop {
            let places = labels.len() as i32;
            let middle = labels.iter().map(|&label| wanted[label]).sum::<i32>() / places;
            let first = middle - gap * (places - 1) / 2;
            let first = first.min(range.1 - gap * (places - 1)).max(range.0);
            match runs.pop_if(|(before, others)| *before + gap * others.len() as i32 > first) {
                Some((_, others)) => labels.splice(0..0, others).for_each(drop),
                None => break runs.push((first, labels)),
            }
        }
    }
    let mut places = wanted.to_vec();
    for (first, labels) in runs {
        for (number, label) in labels.into_iter().enumerate() {
            places[label] = first + gap * number as i32;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_ratios_are_linear_from_zero_and_large_ones_are_not() {
        let small = Scale::of_ratios(1.0, 4.0, (0, 400));
        assert_eq!((small.pixel(0.0), small.pixel(1.0), small.pixel(9.0)), (0, 100, 400));
        assert_eq!(small.ticks(), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]);
        let large = Scale::of_ratios(1.0, 100.0, (0, 400));
        assert_eq!((large.pixel(1.0), large.pixel(10.0)), (0, 200));
        assert_eq!(large.ticks(), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(Scale::of_decades(30.0, 2e8, (0, 1)).values, (10.0, 1e9));
    }

    #[test]
    fn scales_of_zero_and_infinite_values_have_few_ticks() {
        for (least, most) in [(0.0, 100.0), (1.0, f64::INFINITY), (f64::NAN, f64::NAN)] {
            assert!(Scale::of_ratios(least, most, (0, 400)).ticks().len() < 30);
            assert!(Scale::of_decades(least, most, (0, 400)).ticks().len() < 30);
        }
    }

    #[test]
    fn labels_keep_their_distance_and_stay_inside() {
        assert_eq!(spread_out(&[50, 52, 10], 16, (0, 100)), [43, 59, 10]);
        assert_eq!(spread_out(&[98, 99, 97], 16, (0, 100)), [84, 100, 68]);
    }
}
