//! Recipes: kept, with what a serving has in it where every ingredient is known.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_store::fitness::{Record, RecordKind};

use super::{
    athlete::Athlete,
    ids,
    nutrition::meal::{self, Portion},
    undoing::{Kind, Undo},
};
use crate::{
    failure::{Failure, short},
    times,
};

/// Of one user.
const MOST_RECIPES: i64 = 500;

#[derive(Serialize, Deserialize)]
pub(super) struct Recipe {
    name: String,
    servings: u32,
    instructions: Vec<String>,
    ingredients: Vec<Ingredient>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Ingredient {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fdc_id: Option<i64>,
    #[serde(alias = "grams", skip_serializing_if = "Option::is_none")]
    amount_g: Option<f64>,
    /// In the cook's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    quantity: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Delete {
    recipe_id: String,
}

/// What a recipe is kept as.
struct Kept {
    content: Value,
    nutrition: Value,
}

impl Recipe {
    fn kept(&self) -> Result<Kept, Failure> {
        if self.name.trim().is_empty() {
            return Err(Failure::invalid("name is required"));
        }
        let known =
            |ingredient: &Ingredient| Some(Portion { fdc_id: ingredient.fdc_id?, amount_g: ingredient.amount_g? });
        let portions: Option<Vec<Portion>> = self.ingredients.iter().map(known).collect();
        let nutrition = match portions {
            Some(portions) => json!(meal::per_serving(&portions, f64::from(self.servings.max(1)))?),
            None => Value::Null,
        };
        let content = serde_json::to_value(self).map_err(|_| Failure::internal("The recipe can't be written."))?;
        Ok(Kept { content, nutrition })
    }

    pub(super) fn shown(&self) -> Result<Value, Failure> {
        let Kept { content, nutrition } = self.kept()?;
        Ok(answer(None, &content, nutrition, "preview", true))
    }
}

fn answer(id: Option<&str>, content: &Value, nutrition: Value, status: &str, dry: bool) -> Value {
    json!({
        "recipe_id": id, "recipe": content, "nutrition_per_serving": nutrition, "status": status, "dryRun": dry,
    })
}

pub(super) async fn save(athlete: &Athlete, recipe: &Recipe) -> Result<(Value, Undo), Failure> {
    let Kept { content, nutrition } = recipe.kept()?;
    let held = athlete.repository.count_records(RecordKind::Recipe).await.map_err(|fault| Failure::store(&fault))?;
    if held >= MOST_RECIPES {
        return Err(Failure::conflict(format!("There are {MOST_RECIPES} recipes already.")));
    }
    let record = Record { id: ids::new("recipe"), content: content.to_string(), created_at: times::now() };
    athlete.repository.add_record(RecordKind::Recipe, &record).await.map_err(|fault| Failure::store(&fault))?;
    let answer = answer(Some(&record.id), &content, nutrition, "saved", false);
    Ok((answer, Undo::Added { kind: Kind::Recipe, id: record.id }))
}

/// The same words for one that does not exist and for another user's.
fn not_found(id: &str) -> Failure {
    Failure::not_found(format!("Recipe '{}' not found", short(id)))
}

pub(super) async fn shown_deletion(athlete: &Athlete, asked: &Delete) -> Result<Value, Failure> {
    let found = athlete.repository.record(RecordKind::Recipe, &asked.recipe_id).await;
    let found = found.map_err(|fault| Failure::store(&fault))?.ok_or_else(|| not_found(&asked.recipe_id))?;
    Ok(json!({"recipe_id": found.id, "status": "preview", "message": "It would be deleted.", "dryRun": true}))
}

pub(super) async fn delete(athlete: &Athlete, asked: &Delete) -> Result<(Value, Undo), Failure> {
    let gone = athlete.repository.remove_record(RecordKind::Recipe, &asked.recipe_id).await;
    let gone = gone.map_err(|fault| Failure::store(&fault))?.ok_or_else(|| not_found(&asked.recipe_id))?;
    let answer = json!({"recipe_id": gone.id, "status": "deleted", "message": "Recipe deleted.", "dryRun": false});
    let (id, content, created_at) = (gone.id, gone.content, gone.created_at);
    Ok((answer, Undo::Removed { kind: Kind::Recipe, id, content, created_at }))
}
