/** Rates films, asks for consent, and recommends. */
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { defineConsent } from "tacit-consent";
import { openDevice, shown } from "./device.js";

function Films({ device }) {
  const { client, task } = device;
  const [state, setState] = useState({ levels: new Map(), titles: [], due: 0 });
  const [asks, setAsks] = useState(!device.hasConsent);
  const [message, setMessage] = useState("");
  const refresh = async () => setState(await shown(device));
  useEffect(() => void refresh(), []);

  async function rate(place, level) {
    await client.rate(task, task.items[place], level || null);
    await refresh();
  }

  async function accept({ detail }) {
    await client.accept(task, detail);
    setAsks(false);
    setMessage(`${(await client.sync()).stored} reports sent.`);
    await refresh();
  }

  return (
    <main>
      <h1>{task.name}</h1>
      {task.titles.slice(0, 5).map((title, place) => (
        <Film key={title} title={title} scale={task.scale} level={state.levels.get(place)}
          rate={(level) => rate(place, level)} />
      ))}
      {asks && state.due > 0 && (
        <tacit-consent task={task} due={state.due} adopt-styles=""
          ontacit-accept={accept} ontacit-decline={() => setAsks(false)}>
          <h2 slot="before">Help others find films</h2>
        </tacit-consent>
      )}
      <p role="status">{message}</p>
      <h2>For you</h2>
      <ol>{state.titles.map((title) => <li key={title}>{title}</li>)}</ol>
    </main>
  );
}

function Film({ title, scale, level, rate }) {
  return (
    <label>
      {title}
      <select value={level ?? ""} onChange={({ target }) => rate(target.value)}>
        {["", ...scale.levels].map((one) => <option key={one}>{one}</option>)}
      </select>
    </label>
  );
}

defineConsent();
const root = createRoot(document.getElementById("app"));
root.render(<StrictMode><Films device={await openDevice()} /></StrictMode>);
