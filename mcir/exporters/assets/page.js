// The page: which region and graph are shown, search, jumps. `#region=NAME&find=TEXT` in the address chooses.

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const state = { region: -1, graph: -1, folded: data.graphs.map((graph) => new FoldedGraph(graph)), notes: new Map() };
const pictures = { nest: new Picture($("nest"), pickInNest), graph: new Picture($("graph"), pickInGraph) };
const tileMap = new TileMap($("map"), $("tiles-note"), $("play"));

function detail(id, text) {
  $(id).hidden = !text;
  $(id).textContent = text || "";
}

function pickInNest(id) {
  pictures.nest.mark("current", id);
  detail("nest-detail", state.notes.get(id));
}

async function pickInGraph(id) {
  const folded = state.folded[state.graph];
  if (id.startsWith("v")) {
    const node = folded.graph.nodes[Number(id.slice(1))];
    pictures.graph.mark("current", id);
    detail("graph-detail", node.text);
    if (node.region != null && node.region !== state.region) await showRegion(node.region, false);
    return;
  }
  folded.toggle(id);
  await drawGraph(true);
  pictures.graph.center(id);
  if (folded.group(id).region != null) await showRegion(folded.group(id).region, false);
}

async function drawGraph(keepView) {
  const { nodes, edges } = state.folded[state.graph].picture();
  await pictures.graph.show(nodes, edges, keepView);
  markRegion();
}

function markRegion() {
  const id = state.region >= 0 && state.graph >= 0 ? state.folded[state.graph].groupOfRegion(state.region) : null;
  pictures.graph.mark("current", id);
  return id;
}

async function showGraph(at) {
  if (at < 0 || at === state.graph) return;
  state.graph = at;
  const graph = data.graphs[at];
  $("graph-title").textContent = `graph @${graph.name}, ${graph.nodes.length} nodes`;
  $("graphs").value = String(at);
  $("unfold").disabled = !state.folded[at].canOpenAll;
  await drawGraph(false);
}

async function showRegion(at, jump = true) {
  state.region = at;
  const region = data.regions[at];
  [...$("regions").children].forEach((button, each) => {
    if (each === at) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  });
  $("nest-title").textContent = `@${region.region}`;
  const { nodes, edges, notes } = nestPicture(region);
  state.notes = notes;
  detail("nest-detail", "");
  $("account").replaceChildren(...accountTables(region));
  tileMap.show(region);
  await pictures.nest.show(nodes, edges);
  if (!jump) { markRegion(); return; }
  await showGraph(data.graphs.findIndex((graph) => graph.name === region.graph));
  const id = markRegion();
  if (!id) return;
  state.folded[state.graph].reveal(id);
  if (!pictures.graph.boxes.has(id)) await drawGraph(true);
  pictures.graph.center(id);
}

// Everything that has a name: [text shown, what to do]. Made once, on the first search.
let index = null;
function searchIndex() {
  const found = [];
  data.regions.forEach((region, at) => {
    found.push([`@${region.region} (region)`, () => showRegion(at)]);
    region.nests.forEach((nest, which) => nest.nodes.forEach((node) => {
      const ids = [[`n${which}/${node.name}`, `@${node.name} ${node.op}`],
        ...node.outputs.map((value) => [`n${which}%${value.name}`, `%${value.name}`])];
      for (const [id, text] of ids) {
        found.push([`${text} in @${region.region}`, async () => {
          await showRegion(at);
          pickInNest(id);
          pictures.nest.mark("hit", id);
          pictures.nest.center(id);
        }]);
      }
    }));
  });
  data.graphs.forEach((graph, at) => graph.nodes.forEach((node, which) => {
    const names = node.makes.map((name) => `%${name}`).join(", ");
    found.push([`${names} ${node.op} in graph @${graph.name}`, () => revealNode(at, which)]);
  }));
  return found;
}

async function revealNode(graph, at) {
  await showGraph(graph);
  const folded = state.folded[graph];
  detail("graph-detail", folded.graph.nodes[at].text);
  if (!folded.parent.has(at)) return; // constants are in no group
  folded.reveal(at);
  await drawGraph(true);
  pictures.graph.mark("hit", `v${at}`);
  pictures.graph.center(`v${at}`);
}

function find(text) {
  index = index || searchIndex();
  const wanted = text.toLowerCase();
  return wanted ? index.filter(([name]) => name.toLowerCase().includes(wanted)) : [];
}

function showHits(text) {
  const hits = find(text);
  $("hits").hidden = !hits.length;
  $("hits").replaceChildren(...hits.slice(0, 60).map(([name, go]) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.textContent = name;
    button.addEventListener("click", () => { $("hits").hidden = true; go(); });
    item.appendChild(button);
    return item;
  }));
}

function listRegions() {
  $("regions").replaceChildren(...data.regions.map((region, at) => {
    const button = document.createElement("button");
    button.textContent = `@${region.region}`;
    const small = document.createElement("small");
    const moved = region.streaming || region.compulsory;
    small.textContent = (region.streaming ? "" : "at least ") + bytesText(moved.total);
    button.append(small);
    button.addEventListener("click", () => showRegion(at));
    return button;
  }));
  if (!data.regions.length) $("regions").textContent = "no execution regions";
}

async function start() {
  document.body.classList.toggle("no-graph", !data.graphs.length);
  document.body.classList.toggle("no-regions", !data.regions.length);
  const wanted = new URLSearchParams(location.hash.slice(1));
  listRegions();
  $("graphs").replaceChildren(...data.graphs.map((graph, at) => new Option(`@${graph.name}`, at)));
  $("graphs").hidden = data.graphs.length < 2;
  $("graphs").addEventListener("change", (event) => showGraph(Number(event.target.value)));
  $("unfold").addEventListener("click", () => { state.folded[state.graph].openAll(); drawGraph(false); });
  $("fold").addEventListener("click", () => { state.folded[state.graph].open.clear(); drawGraph(false); });
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => {
      const picture = pictures[button.dataset.zoom];
      if (button.dataset.by === "fit") picture.fit();
      else picture.zoom(Number(button.dataset.by));
    });
  }
  $("search").addEventListener("input", (event) => showHits(event.target.value));
  $("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && find(event.target.value).length) { $("hits").hidden = true; find(event.target.value)[0][1](); }
    if (event.key === "Escape") $("hits").hidden = true;
  });
  if (data.regions.length) {
    const named = data.regions.findIndex((region) => region.region === wanted.get("region"));
    await showRegion(Math.max(0, named));
  }
  if (state.graph < 0) await showGraph(data.graphs.length - 1);
  if (wanted.get("find")) {
    const hits = find(wanted.get("find"));
    if (hits.length) await hits[0][1]();
  }
  document.body.dataset.ready = String(Math.round(performance.now()));
}

start().catch((error) => { document.body.dataset.failed = String(error.stack || error); });
