//! What a day takes: resting metabolism by Mifflin and St Jeor (American Journal of Clinical Nutrition 51, 1990), times an
//! activity factor, split into protein, carbohydrates and fat. The rules are in docs/fitness.md.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{failure::Failure, fitness::measure::rounded};

/// Less than this is no adult's metabolism at rest: a unit is wrong, and the equation may even be negative.
const LEAST_RESTING: f64 = 100.0;
const KCAL_OF_FAT: f64 = 9.0;
const KCAL_OF_OTHERS: f64 = 4.0;

#[derive(Deserialize)]
pub(in crate::fitness) struct Needs {
    weight_kg: f64,
    height_cm: f64,
    age: f64,
    gender: Gender,
    activity_level: Level,
    training_goal: Goal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Gender {
    Male,
    Female,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Level {
    Sedentary,
    LightlyActive,
    ModeratelyActive,
    VeryActive,
    ExtraActive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Goal {
    Maintenance,
    WeightLoss,
    MuscleGain,
    EndurancePerformance,
}

impl Needs {
    fn resting(&self) -> f64 {
        let of_gender = match self.gender {
            Gender::Male => 5.0,
            Gender::Female => -161.0,
        };
        10.0 * self.weight_kg + 6.25 * self.height_cm - 5.0 * self.age + of_gender
    }

    fn factor(&self) -> f64 {
        match self.activity_level {
            Level::Sedentary => 1.2,
            Level::LightlyActive => 1.375,
            Level::ModeratelyActive => 1.55,
            Level::VeryActive => 1.725,
            Level::ExtraActive => 1.9,
        }
    }

    /// Grams for each kilogram of body weight.
    fn protein(&self) -> f64 {
        match (self.activity_level, self.training_goal) {
            (Level::Sedentary, _) => 0.8,
            (Level::LightlyActive | Level::ModeratelyActive, _) => 1.3,
            (_, Goal::EndurancePerformance) => 2.0,
            (_, Goal::MuscleGain) => 2.2,
            _ => 1.8,
        }
    }

    /// Grams for each kilogram of body weight.
    fn carbs(&self) -> f64 {
        match (self.activity_level, self.training_goal) {
            (Level::Sedentary | Level::LightlyActive, _) => 3.0,
            (_, Goal::EndurancePerformance) => 10.0,
            (Level::ModeratelyActive, _) => 6.0,
            _ => 7.2,
        }
    }

    /// What protein and carbohydrates leave, at least a share of the day's energy for the goal, and between 20 and 35 % of it.
    fn fat(&self, day: f64, others: f64) -> f64 {
        let share = match self.training_goal {
            Goal::WeightLoss => 0.20,
            Goal::MuscleGain => 0.25,
            Goal::Maintenance | Goal::EndurancePerformance => 0.275,
        };
        let wanted = (day - others).max(day * share);
        wanted.clamp(day * 0.20, day * 0.35) / KCAL_OF_FAT
    }
}

pub(in crate::fitness) fn daily(needs: &Needs) -> Result<Value, Failure> {
    let bmr = needs.resting();
    if bmr < LEAST_RESTING {
        return Err(Failure::invalid(format!(
            "With these values the equation gives {} kcal a day, less than any adult needs. Give weight_kg in kilograms, height_cm in \
             centimeters (170, not 1.7) and age in years.",
            rounded(bmr, 0)
        )));
    }
    let day = bmr * needs.factor();
    let (protein, carbs) = (needs.protein() * needs.weight_kg, needs.carbs() * needs.weight_kg);
    let fat = needs.fat(day, (protein + carbs) * KCAL_OF_OTHERS);
    let energy = (protein + carbs) * KCAL_OF_OTHERS + fat * KCAL_OF_FAT;
    let percent = |kcal: f64| rounded(kcal / energy * 100.0, 1);
    Ok(json!({
        "bmr": rounded(bmr, 0),
        "tdee": rounded(day, 0),
        "activity_factor": needs.factor(),
        "protein_g": rounded(protein, 1),
        "carbs_g": rounded(carbs, 1),
        "fat_g": rounded(fat, 1),
        "macro_calories": rounded(energy, 0),
        "macro_percentages": {
            "protein_percent": percent(protein * KCAL_OF_OTHERS),
            "carbs_percent": percent(carbs * KCAL_OF_OTHERS),
            "fat_percent": percent(fat * KCAL_OF_FAT),
        },
        "method": "Mifflin-St Jeor (1990) times an activity factor; grams by body weight",
        "note": "An estimate for healthy adults, not medical advice. Where macro_calories differs from tdee, the grams by body weight ask for more or less than the energy of a day.",
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(weight_kg: f64, height_cm: f64, age: f64, gender: Gender) -> Needs {
        let (activity_level, training_goal) = (Level::ModeratelyActive, Goal::Maintenance);
        Needs { weight_kg, height_cm, age, gender, activity_level, training_goal }
    }

    #[test]
    fn resting_metabolism_is_mifflin_and_st_jeors() {
        // the usual worked example: a woman of 55 years, 59 kg and 168 cm takes 1204 kcal
        assert_eq!(needs(59.0, 168.0, 55.0, Gender::Female).resting(), 1204.0);
        // a man of 30 years, 70 kg and 175 cm
        assert_eq!(needs(70.0, 175.0, 30.0, Gender::Male).resting(), 1648.75);
    }

    #[test]
    fn a_height_in_meters_is_refused_and_not_computed_with() {
        let refused = daily(&needs(10.0, 0.8, 40.0, Gender::Female)).unwrap_err();
        assert_eq!(refused.code, "validation");
        assert!(refused.error.contains("centimeters"), "{}", refused.error);
        assert!(daily(&needs(45.0, 1.5, 20.0, Gender::Female)).is_ok(), "small, and not impossible");
    }

    #[test]
    fn a_day_is_resting_times_the_factor() {
        let of = |level| Needs { activity_level: level, ..needs(70.0, 175.0, 30.0, Gender::Male) }.factor();
        let levels =
            [Level::Sedentary, Level::LightlyActive, Level::ModeratelyActive, Level::VeryActive, Level::ExtraActive];
        assert_eq!(levels.map(of), [1.2, 1.375, 1.55, 1.725, 1.9]);
        let day = daily(&needs(70.0, 175.0, 30.0, Gender::Male)).unwrap();
        assert_eq!((day["bmr"].as_f64(), day["tdee"].as_f64()), (Some(1649.0), Some(2556.0)));
    }

    #[test]
    fn protein_carbs_and_fat_follow_the_rules() {
        let of = |activity_level, training_goal| {
            let needs = Needs { activity_level, training_goal, ..needs(100.0, 180.0, 30.0, Gender::Male) };
            (needs.protein(), needs.carbs())
        };
        assert_eq!(of(Level::Sedentary, Goal::MuscleGain), (0.8, 3.0));
        assert_eq!(of(Level::LightlyActive, Goal::EndurancePerformance), (1.3, 3.0));
        assert_eq!(of(Level::ModeratelyActive, Goal::EndurancePerformance), (1.3, 10.0));
        assert_eq!(of(Level::ModeratelyActive, Goal::WeightLoss), (1.3, 6.0));
        assert_eq!(of(Level::VeryActive, Goal::EndurancePerformance), (2.0, 10.0));
        assert_eq!(of(Level::ExtraActive, Goal::MuscleGain), (2.2, 7.2));
        assert_eq!(of(Level::VeryActive, Goal::WeightLoss), (1.8, 7.2));
        let needs = needs(70.0, 175.0, 30.0, Gender::Male);
        // little left: the share of the goal; much left: no more than 35 %
        assert_eq!(rounded(needs.fat(2000.0, 1900.0), 1), 61.1);
        assert_eq!(rounded(needs.fat(2000.0, 0.0), 1), 77.8);
        let losing = Needs { training_goal: Goal::WeightLoss, ..needs };
        assert_eq!(rounded(losing.fat(2000.0, 2500.0), 1), 44.4);
    }
}
