//! Our client under load.

use anyhow::Result;
use trunkline_client::{Client, ConnectOptions, RevisionChoice, Target};
use trunkline_protocol::{Object, Raw, message::ContentBlock, method};

use crate::{
    Echo, Era, Place,
    load::{Cost, Load},
};

pub(crate) async fn measure(place: &Place, era: Era, load: Load) -> Result<Cost> {
    let target = match place {
        Place::Url(url) => Target::url(url)?,
        Place::Command { program, arguments } => {
            Target::command(std::iter::once(program).chain(arguments).cloned())?
        }
    };
    let era = match era {
        Era::Legacy => trunkline_protocol::Era::Legacy,
        Era::Modern => trunkline_protocol::Era::Modern,
    };
    let options = ConnectOptions { speak: RevisionChoice::Era(era), ..ConnectOptions::default() };
    let client = Client::connect(&target, options).await?;
    // Applications list the tools before they call one.
    client.tools().await?;
    let cost = load.put_on(Ours(client.clone())).await;
    client.close().await;
    cost
}

#[derive(Clone)]
struct Ours(Client);

impl Echo for Ours {
    async fn echo(&self, text: String) -> Result<bool> {
        let mut arguments = Object::new();
        arguments.set("text", Raw::string(&text));
        let result = self.0.call("echo", arguments).await?;
        Ok(matches!(result.content.as_deref(), Some([ContentBlock::Text(content)]) if content.text == text))
    }

    async fn list(&self) -> Result<bool> {
        let result = self.0.ask(method::TOOLS_LIST, Object::new()).await?;
        let tools: Vec<Raw> = result.member_as("tools").unwrap_or_default();
        Ok(matches!(&tools[..], [only] if only.member_as::<String>("name").as_deref() == Some("echo")))
    }
}
