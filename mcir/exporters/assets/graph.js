// The semantic graph, folded: groups are shut until they are opened, and edges end at what is seen.

const OPEN_AT_ONCE = 60; // a graph of so few nodes is shown open
const MOST_OPEN = 2500; // a graph of more nodes is never opened as a whole: placing it would take minutes

class FoldedGraph {
  constructor(graph) {
    this.graph = graph;
    this.groups = []; // {id, label, region, items, parent}
    this.parent = new Map(); // node number or group id -> group id
    this.open = new Set();
    this.top = graph.groups.map((item) => this.enter(item, null));
    if (graph.nodes.length <= OPEN_AT_ONCE) this.openAll();
    else if (this.top.length === 1) this.open.add(this.top[0]);
  }

  enter(item, parent) {
    if (typeof item === "number") {
      this.parent.set(item, parent);
      return item;
    }
    const group = { id: `g${this.groups.length}`, label: item.label, region: item.region, parent };
    this.groups.push(group);
    this.parent.set(group.id, parent);
    group.items = item.items.map((inner) => this.enter(inner, group.id));
    return group.id;
  }

  group(id) {
    return this.groups[Number(id.slice(1))];
  }

  get canOpenAll() {
    return this.graph.nodes.length <= MOST_OPEN;
  }

  openAll() {
    for (const group of this.groups) this.open.add(group.id);
  }

  toggle(id) {
    if (!this.open.delete(id)) this.open.add(id);
  }

  groupOfRegion(region) {
    const group = this.groups.find((each) => each.region === region);
    return group ? group.id : null;
  }

  // Opens everything around a node number or a group.
  reveal(item) {
    for (let at = this.parent.get(item); at != null; at = this.parent.get(at)) this.open.add(at);
  }

  // The box that stands for a node: itself, or the outermost shut group around it.
  visible(item) {
    let seen = item;
    for (let at = this.parent.get(item); at != null; at = this.parent.get(at)) if (!this.open.has(at)) seen = at;
    return typeof seen === "number" ? `v${seen}` : seen;
  }

  picture() {
    const edges = new Map();
    this.graph.nodes.forEach((node, at) => {
      if (!this.parent.has(at)) return;
      for (const source of node.from) {
        if (!this.parent.has(source)) continue;
        const [from, to] = [this.visible(source), this.visible(at)];
        if (from !== to) edges.set(`${from}>${to}`, { id: `${from}>${to}`, from, to });
      }
    });
    return { nodes: this.top.map((item) => this.box(item)), edges: [...edges.values()] };
  }

  box(item) {
    if (typeof item === "number") {
      const node = this.graph.nodes[item];
      const name = node.makes[0] === undefined ? node.name : node.makes[0];
      return { id: `v${item}`, text: [node.op, `%${name}`], kind: node.region == null ? "op" : "covered", note: node.text };
    }
    const group = this.group(item);
    const kind = group.region == null ? "group" : "covered";
    if (!this.open.has(item)) {
      const lines = group.region == null ? group.label.split(": ") : [group.label, "covered: click to open"];
      return { id: item, text: lines, kind: `${kind} closed` };
    }
    return { id: item, text: [group.label], kind, children: group.items.map((inner) => this.box(inner)) };
  }
}
