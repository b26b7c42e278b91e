/** Rates films, asks for consent, and recommends. The collector has another origin than the site. */
import { createApp, reactive } from "vue";
import { defineConsent } from "tacit-consent";
import { Client, Collector, fetchTask, openStore } from "tacit-device";

const origin = document.querySelector("meta[name=collector]").content;
const collector = new Collector({ origin });
const client = new Client({ store: await openStore(), collector });
const task = await fetchTask(collector);

// The client and the task stay outside: a proxy of Vue has no access to private fields.
const state = reactive({ levels: {}, titles: [], due: 0, message: "" });
state.asks = !(await client.updateTask(task));

async function refresh() {
  const { levels } = await client.history(task);
  const best = await client.recommend(task, 5); // the first time without ratings: it fetches the model
  state.levels = Object.fromEntries(levels);
  state.titles = levels.size === 0 ? [] : best.map(({ item }) => task.titles[task.items.indexOf(item)]);
  state.due = await client.countDue(task);
}

async function rate(place, level) {
  await client.rate(task, task.items[place], level || null);
  await refresh();
}

async function accept({ detail }) {
  await client.accept(task, detail);
  state.asks = false;
  state.message = `${(await client.sync()).stored} reports sent.`;
  await refresh();
}

defineConsent();
await refresh();
const app = createApp({
  setup: () => ({ task, state, rate, accept }),
  template: `
    <main>
      <h1>{{ task.name }}</h1>
      <label v-for="(title, place) in task.titles.slice(0, 5)">
        {{ title }}
        <select :value="state.levels[place] ?? ''" @change="rate(place, $event.target.value)">
          <option v-for="level in ['', ...task.scale.levels]">{{ level }}</option>
        </select>
      </label>
      <tacit-consent v-if="state.asks && state.due > 0" :task="task" :due="state.due" adopt-styles
        @tacit-accept="accept" @tacit-decline="state.asks = false">
        <h2 slot="before">Help others find films</h2>
      </tacit-consent>
      <p role="status">{{ state.message }}</p>
      <h2>For you</h2>
      <ol><li v-for="title in state.titles">{{ title }}</li></ol>
    </main>`,
});
app.config.compilerOptions.isCustomElement = (name) => name.startsWith("tacit-");
app.mount("#app");
