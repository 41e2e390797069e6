//! A straight line through points, by ordinary least squares, with how much it explains and how likely chance explains it.

use statrs::function::beta::checked_beta_reg;

use crate::fitness::measure::count;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    pub(super) slope: f64,
    pub(super) intercept: f64,
    pub(super) correlation: f64,
    pub(super) r_squared: f64,
    /// That there is no slope, by Student's t with n - 2 degrees of freedom, both sides. Absent for two points.
    pub(super) p_value: Option<f64>,
}

impl Line {
    pub(super) fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// `None` where there is no line: fewer than two points, or all at one x.
pub(super) fn fit(points: &[(f64, f64)]) -> Option<Line> {
    let n = count(points.len());
    if points.len() < 2 {
        return None;
    }
    let mean = |value: fn(&(f64, f64)) -> f64| points.iter().map(value).sum::<f64>() / n;
    let (mean_x, mean_y) = (mean(|(x, _)| *x), mean(|(_, y)| *y));
    // sums of products of what is left of the means
    let sum = |product: fn(f64, f64) -> f64| points.iter().map(|(x, y)| product(x - mean_x, y - mean_y)).sum::<f64>();
    let (xx, yy, xy) = (sum(|x, _| x * x), sum(|_, y| y * y), sum(|x, y| x * y));
    if xx <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    let correlation = if yy > 0.0 { (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0) } else { 0.0 };
    let r_squared = correlation * correlation;
    let p_value = (points.len() > 2).then(|| p_value(r_squared, n - 2.0)).flatten();
    Some(Line { slope, intercept: mean_y - slope * mean_x, correlation, r_squared, p_value })
}

/// With t² = r²(n−2)/(1−r²), the two tails of Student's t are the regularised incomplete beta function at (n−2)/(n−2+t²),
/// which is 1 − r².
fn p_value(r_squared: f64, freedom: f64) -> Option<f64> {
    checked_beta_reg(freedom / 2.0, 0.5, (1.0 - r_squared).clamp(0.0, 1.0)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64, within: f64) {
        assert!((found - expected).abs() <= within * expected.abs(), "{found} is not {expected}");
    }

    #[test]
    fn norris_has_the_certified_line() {
        // NIST Statistical Reference Datasets, Norris: 36 observations, certified values to 15 digits
        let y = [
            0.1, 338.8, 118.1, 888.0, 9.2, 228.1, 668.5, 998.5, 449.1, 778.9, 559.2, 0.3, 0.1, 778.1, 668.8, 339.3,
            448.9, 10.8, 557.7, 228.3, 998.0, 888.8, 119.6, 0.3, 0.6, 557.6, 339.3, 888.0, 998.5, 778.9, 10.2, 117.6,
            228.9, 668.4, 449.2, 0.2,
        ];
        let x = [
            0.2, 337.4, 118.2, 884.6, 10.1, 226.5, 666.3, 996.3, 448.6, 777.0, 558.2, 0.4, 0.6, 775.5, 666.9, 338.0,
            447.5, 11.6, 556.0, 228.1, 995.8, 887.6, 120.2, 0.3, 0.3, 556.8, 339.1, 887.2, 999.0, 779.0, 11.1, 118.3,
            229.2, 669.1, 448.9, 0.5,
        ];
        let points: Vec<(f64, f64)> = x.into_iter().zip(y).collect();
        let line = fit(&points).unwrap();
        near(line.slope, 1.002_116_818_020_45, 1e-13);
        near(line.intercept, -0.262_323_073_774_029, 1e-10);
        near(line.r_squared, 0.999_993_745_883_712, 1e-13);
    }

    #[test]
    fn anscombes_first_set_has_the_published_figures() {
        // F. J. Anscombe, "Graphs in Statistical Analysis", The American Statistician 27, 1973
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let points: Vec<(f64, f64)> = x.into_iter().zip(y).collect();
        let line = fit(&points).unwrap();
        near(line.slope, 0.5, 0.001);
        near(line.intercept, 3.0, 0.001);
        near(line.correlation, 0.816, 0.001);
        near(line.r_squared, 0.667, 0.002);
        // t = 4.24 on 9 degrees of freedom
        near(line.p_value.unwrap(), 0.00217, 0.002);
        near(line.at(10.0), 8.0, 0.001);
    }

    #[test]
    fn where_there_is_no_line_none_is_made_up() {
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&[(1.0, 1.0)]), None);
        assert_eq!(fit(&[(1.0, 1.0), (1.0, 2.0)]), None);
        let flat = fit(&[(0.0, 5.0), (1.0, 5.0), (2.0, 5.0)]).unwrap();
        assert_eq!((flat.slope, flat.r_squared, flat.p_value), (0.0, 0.0, Some(1.0)));
        let two = fit(&[(0.0, 0.0), (2.0, 4.0)]).unwrap();
        assert_eq!((two.slope, two.r_squared, two.p_value), (2.0, 1.0, None), "two points say nothing of chance");
        let exact = fit(&[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]).unwrap();
        assert_eq!(exact.p_value, Some(0.0));
    }
}
