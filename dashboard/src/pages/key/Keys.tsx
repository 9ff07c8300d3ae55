import { useId, useState } from "react";
import type { FormEvent, ReactElement } from "react";
import { del, post } from "../../api/client";
import type { ApiKey, CreatedKey, KeyItems } from "../../api/answers";
import { CommandHint, ErrorBox, Select, Show, Table } from "../../components";
import { dateTime } from "../../format";
import { useResource } from "../../hooks/useResource";

function NewKey({ onMade }: { onMade: () => void }): ReactElement {
  const [name, setName] = useState("");
  const [scope, setScope] = useState("read");
  const [made, setMade] = useState<CreatedKey | null>(null);
  const [error, setError] = useState<unknown>(null);
  const id = useId();
  const create = (event: FormEvent): void => {
    event.preventDefault();
    setError(null);
    post<CreatedKey>("/api/keys", { name, scope }).then((answer) => {
      setMade(answer);
      setName("");
      onMade();
    }, setError);
  };
  return (
    <form className="panel" onSubmit={create}>
      <div className="row">
        <span className="field">
          <label htmlFor={id}>Name</label>
          <input id={id} value={name} onChange={(event) => setName(event.target.value)} required />
        </span>
        <Select label="May" value={scope} options={["read", "run", "admin"]} onChange={setScope} />
        <button type="submit">Create a key</button>
      </div>
      <ErrorBox error={error} />
      {made && (
        <p role="status">
          The key of {made.key.name}, shown this once: <code>{made.secret}</code>
        </p>
      )}
    </form>
  );
}

/** Asks once more: whoever uses the key is locked out at once, and no key comes back. */
function RevokeButton({ name, onRevoke }: { name: string; onRevoke: () => void }): ReactElement {
  const [asking, setAsking] = useState(false);
  if (!asking) {
    return (
      <button type="button" onClick={() => setAsking(true)} aria-label={`Revoke ${name}`}>
        Revoke
      </button>
    );
  }
  return (
    <span className="row">
      <button type="button" onClick={onRevoke} aria-label={`Yes, revoke ${name}`}>
        Yes, revoke
      </button>
      <button type="button" className="quiet" onClick={() => setAsking(false)} aria-label={`Keep ${name}`}>
        Keep it
      </button>
    </span>
  );
}

/** Every key by its beginning; the secrets themselves are not kept. */
export function Keys(): ReactElement {
  const keys = useResource<KeyItems>("/api/keys");
  const [error, setError] = useState<unknown>(null);
  const revoke = (key: ApiKey): void => {
    setError(null);
    del(`/api/keys/${encodeURIComponent(key.name)}`).then(keys.refresh, setError);
  };
  return (
    <section>
      <h2>Keys</h2>
      <CommandHint command="dyno keys list" />
      <NewKey onMade={keys.refresh} />
      <ErrorBox error={error} />
      <Show of={keys}>
        {(data) => (
          <Table
            caption="Keys"
            rows={data.items}
            rowKey={(key) => key.key_id}
            sortParam="keys"
            columns={[
              { key: "name", label: "Name", value: (key) => key.name, render: (key) => key.name },
              { key: "scope", label: "May", value: (key) => key.scope, render: (key) => key.scope },
              { key: "prefix", label: "Begins with", render: (key) => <code>{key.prefix}</code> },
              { key: "created", label: "Made", value: (key) => key.created_at, render: (key) => dateTime(key.created_at) },
              { key: "used", label: "Last used", value: (key) => key.last_used_at, render: (key) => dateTime(key.last_used_at) },
              {
                key: "revoke",
                label: "Do",
                render: (key) =>
                  key.revoked_at !== null ? (
                    <span className="muted">revoked {dateTime(key.revoked_at)}</span>
                  ) : (
                    <RevokeButton name={key.name} onRevoke={() => revoke(key)} />
                  ),
              },
            ]}
          />
        )}
      </Show>
    </section>
  );
}
