//! Whether a gateway would be let in, for who looks before a start.

use crate::driver::Driver;
use crate::line::Session;
use crate::target::Target;
use std::time::Duration;
use weir_storage::HistoryFault;

/// Logs in to the database, by TLS where it is wanted; gives the server's version, or says why that cannot be.
pub fn reach(target: &Target, within: Duration) -> Result<String, String> {
    let driver = Driver::start().map_err(|error| format!("no thread: {error}"))?;
    let target = target.clone();
    let asked = driver.run(within, move || async move {
        let asked = async {
            let mut session = Session::begin(&target).await?;
            let rows = session.query("SHOW server_version", &[]).await?;
            rows.first().map_or(Ok(String::new()), |row| row.try_get(0))
        };
        asked.await.map_err(|error| target.fault(&error))
    });
    asked.map_err(|fault| match fault {
        HistoryFault::Failed(problem) => problem,
        fault => fault.to_string(),
    })
}
