//! Where an alert goes.

use crate::letter::Letter;
use crate::mail::Mail;
use crate::verdict::Verdict;
use crate::web::Web;
use weir_binding::Gateway;

/// One address.
#[derive(Debug)]
pub(crate) enum Address {
    Web(Web),
    Mail(Mail),
}

impl Address {
    /// Hands it over, once.
    pub(crate) async fn take(&self, context: &dyn Gateway, letter: &Letter<'_>) -> Verdict {
        match self {
            Self::Web(web) => web.post(context, letter).await,
            Self::Mail(mail) => mail.send(letter).await,
        }
    }
}
