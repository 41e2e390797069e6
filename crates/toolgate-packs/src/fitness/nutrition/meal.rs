//! What a meal adds up to.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::foods;
use crate::{failure::Failure, fitness::measure::rounded};

/// Both forms that clients know.
#[derive(Deserialize)]
pub(in crate::fitness) struct Meal {
    #[serde(alias = "foods", default)]
    ingredients: Vec<Portion>,
}

#[derive(Debug, Clone, Deserialize)]
pub(in crate::fitness) struct Portion {
    pub(in crate::fitness) fdc_id: i64,
    #[serde(alias = "grams")]
    pub(in crate::fitness) amount_g: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(in crate::fitness) struct Totals {
    calories: f64,
    protein_g: f64,
    carbs_g: f64,
    fat_g: f64,
    fiber_g: f64,
}

impl Totals {
    fn of(portion: &Portion) -> Result<Self, Failure> {
        let food = foods::find(portion.fdc_id).ok_or_else(|| foods::missing(portion.fdc_id))?;
        let share = portion.amount_g / 100.0;
        Ok(Self {
            calories: food.energy * share,
            protein_g: food.protein * share,
            carbs_g: food.carbs * share,
            fat_g: food.fat * share,
            fiber_g: food.fiber * share,
        })
    }

    fn plus(self, other: Self) -> Self {
        Self {
            calories: self.calories + other.calories,
            protein_g: self.protein_g + other.protein_g,
            carbs_g: self.carbs_g + other.carbs_g,
            fat_g: self.fat_g + other.fat_g,
            fiber_g: self.fiber_g + other.fiber_g,
        }
    }

    /// For people: tenths.
    fn shown(self, share: f64) -> Self {
        Self {
            calories: rounded(self.calories * share, 1),
            protein_g: rounded(self.protein_g * share, 1),
            carbs_g: rounded(self.carbs_g * share, 1),
            fat_g: rounded(self.fat_g * share, 1),
            fiber_g: rounded(self.fiber_g * share, 1),
        }
    }
}

/// Of a number of servings, one serving.
pub(in crate::fitness) fn per_serving(portions: &[Portion], servings: f64) -> Result<Totals, Failure> {
    let mut sum = Totals::default();
    for portion in portions {
        sum = sum.plus(Totals::of(portion)?);
    }
    Ok(sum.shown(1.0 / servings))
}

pub(in crate::fitness) fn analyze(meal: &Meal) -> Result<Value, Failure> {
    if meal.ingredients.is_empty() {
        return Err(Failure::invalid("At least one ingredient is required"));
    }
    let mut sum = Totals::default();
    let mut each = Vec::new();
    for portion in &meal.ingredients {
        let totals = Totals::of(portion)?;
        sum = sum.plus(totals);
        let description = foods::find(portion.fdc_id).map(|food| food.description.as_str());
        each.push(json!({
            "fdc_id": portion.fdc_id, "description": description, "amount_g": portion.amount_g, "nutrition": totals.shown(1.0),
        }));
    }
    Ok(json!({"meal_totals": sum.shown(1.0), "ingredients": each, "ingredient_count": meal.ingredients.len()}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_add_up() {
        let meal: Meal = serde_json::from_value(json!({"ingredients": [
            {"fdc_id": 173_944, "amount_g": 200}, {"fdc_id": 173_904, "amount_g": 50},
        ]}))
        .unwrap();
        let answer = analyze(&meal).unwrap();
        let totals = json!({"calories": 367.5, "protein_g": 8.8, "carbs_g": 79.5, "fat_g": 3.9, "fiber_g": 10.3});
        assert_eq!(answer["meal_totals"], totals);
        let older: Meal = serde_json::from_value(json!({"foods": [{"fdc_id": 173_944, "grams": 100}]})).unwrap();
        assert_eq!(analyze(&older).unwrap()["meal_totals"]["calories"], 89.0);
    }

    #[test]
    fn nothing_and_the_unknown_are_refused() {
        let empty: Meal = serde_json::from_value(json!({})).unwrap();
        assert_eq!(analyze(&empty).unwrap_err().error, "At least one ingredient is required");
        let unknown: Meal = serde_json::from_value(json!({"ingredients": [{"fdc_id": 1, "amount_g": 1}]})).unwrap();
        assert_eq!(analyze(&unknown).unwrap_err().code, "not_found");
    }
}
