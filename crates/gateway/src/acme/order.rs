//! One certificate, from the account to the file.

use super::challenges::Challenges;
use super::client::Asking;
use super::settings::Settings;
use super::storage;
use instant_acme::{
    Account, AuthorizationStatus, ChallengeType, Identifier, NewAccount, NewOrder, Order,
    OrderStatus, RetryPolicy,
};
use std::time::Duration;

/// For how long an authority may take to look.
const PATIENCE: RetryPolicy = RetryPolicy::new().timeout(Duration::from_secs(120));

/// Asks for a certificate and keeps it.
pub(super) async fn order(settings: &Settings, challenges: &Challenges) -> Result<(), String> {
    let ordered = ordered(settings, challenges).await;
    challenges.clear();
    let (chain, key) = ordered?;
    let kept = storage::keep(&settings.storage, &settings.names, &chain, &key);
    kept.map_err(|error| format!("{}: {error}", settings.storage.display()))
}

async fn ordered(settings: &Settings, challenges: &Challenges) -> Result<(String, String), String> {
    let names: Vec<Identifier> = settings.names.iter().map(|name| identifier(name)).collect();
    let account = account(settings).await?;
    let failed = |error: instant_acme::Error| error.to_string();
    let mut order = account
        .new_order(&NewOrder::new(&names))
        .await
        .map_err(failed)?;
    prove(&mut order, challenges).await?;
    let status = order.poll_ready(&PATIENCE).await.map_err(failed)?;
    if status != OrderStatus::Ready {
        return Err(why_not(&mut order).await);
    }
    let key = order.finalize().await.map_err(failed)?;
    let chain = order.poll_certificate(&PATIENCE).await.map_err(failed)?;
    Ok((chain, key))
}

fn identifier(name: &str) -> Identifier {
    match name.parse() {
        Ok(address) => Identifier::Ip(address),
        Err(_) => Identifier::Dns(name.to_owned()),
    }
}

/// Has the authority look for what proves that the names lead here.
async fn prove(order: &mut Order, challenges: &Challenges) -> Result<(), String> {
    let failed = |error: instant_acme::Error| error.to_string();
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization.map_err(failed)?;
        if authorization.status == AuthorizationStatus::Valid {
            continue;
        }
        let offered = authorization.challenge(ChallengeType::Http01);
        let mut challenge = offered.ok_or("the authority does not offer http-01")?;
        let proof = challenge.key_authorization();
        challenges.put(&challenge.token, proof.as_str());
        challenge.set_ready().await.map_err(failed)?;
    }
    Ok(())
}

/// What the authority says that was wrong.
async fn why_not(order: &mut Order) -> String {
    let mut authorizations = order.authorizations();
    while let Some(Ok(authorization)) = authorizations.next().await {
        let said = authorization
            .challenges
            .iter()
            .find_map(|it| it.error.as_ref());
        if let Some(problem) = said {
            return format!(
                "the authority refuses {}: {problem}",
                authorization.identifier()
            );
        }
    }
    "the authority refuses, and does not say why".into()
}

/// The account that is kept, or a new one, which agrees to the authority's terms.
async fn account(settings: &Settings) -> Result<Account, String> {
    let failed = |error: instant_acme::Error| error.to_string();
    let builder = Account::builder_with_http(Box::new(Asking::new(&settings.roots)));
    let kept = storage::account(&settings.storage, &settings.directory);
    if let Some(credentials) = kept.and_then(|kept| serde_json::from_value(kept).ok()) {
        return builder.from_credentials(credentials).await.map_err(failed);
    }
    let contact: Vec<&str> = settings.contact.iter().map(String::as_str).collect();
    let wanted = NewAccount {
        contact: &contact,
        terms_of_service_agreed: true,
        only_return_existing: false,
    };
    let created = builder.create(&wanted, settings.directory.clone(), None);
    let (account, credentials) = created.await.map_err(failed)?;
    let credentials = serde_json::to_value(&credentials).map_err(|error| error.to_string())?;
    storage::keep_account(&settings.storage, &settings.directory, &credentials)
        .map_err(|error| format!("{}: {error}", settings.storage.display()))?;
    Ok(account)
}
