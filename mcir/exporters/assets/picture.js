// A picture: a graph that ELK has placed, drawn as SVG, with pan and zoom.
//
// A node is {id, text: [lines], kind: "class names", children?, note?}; an edge {id, from, to, label?, moves?}.

const SVG = "http://www.w3.org/2000/svg";
const elk = new ELK();
const ruler = document.createElement("canvas").getContext("2d");

function textWidth(text, size, weight = "") {
  ruler.font = `${weight} ${size}px system-ui, "DejaVu Sans", sans-serif`;
  return ruler.measureText(text).width;
}

function element(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (parent) parent.appendChild(made);
  return made;
}

function clipped(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "\u2026" : text;
}

// The end of a path says more than its beginning.
function shortName(name, most = 30) {
  return name.length > most ? `${name[0]}\u2026${name.slice(2 - most)}` : name;
}

// What ELK is given: sizes from the text, labels on top of boxes.
function elkNode(node) {
  const lines = node.text.map((line) => (/^[%@]/.test(line) ? shortName(line) : clipped(line, 46)));
  const width = Math.max(...lines.map((line, at) => textWidth(line, at ? 10.5 : 12, node.children ? "600" : ""))) + 18;
  if (!node.children) return { id: node.id, node, lines, width, height: 10 + 15 * lines.length };
  return {
    id: node.id, node, lines, children: node.children.map(elkNode),
    layoutOptions: {
      "elk.padding": `[top=${10 + 16 * lines.length},left=12,bottom=12,right=12]`,
      "elk.layered.spacing.nodeNodeBetweenLayers": "16",
    },
  };
}

function elkEdge(edge) {
  const labels = edge.label ? [{
    text: edge.label, width: textWidth(edge.label, 11) + 6, height: 14,
    layoutOptions: { "elk.edgeLabels.placement": "TAIL" },
  }] : [];
  return { id: edge.id, edge, sources: [edge.from], targets: [edge.to], labels };
}

class Picture {
  constructor(svg, onPick) {
    this.svg = svg;
    this.onPick = onPick;
    this.view = { x: 0, y: 0, scale: 1 };
    this.turn = 0;
    this.touched = false; // by the reader: the view then stays where it was put
    this.boxes = new Map();
    this.layer = element("g", {}, svg);
    // Arrows run over boxes and under names.
    [this.shapes, this.arrows, this.names] = [0, 1, 2].map(() => element("g", {}, this.layer));
    this.listen();
    new ResizeObserver(() => { if (!this.touched) this.fit(); }).observe(svg);
  }

  // Places and draws; a later call wins over an earlier one that is still being placed.
  async show(nodes, edges, keepView = false) {
    const turn = ++this.turn;
    const placed = await elk.layout({
      id: "root", children: nodes.map(elkNode), edges: edges.map(elkEdge),
      layoutOptions: {
        "elk.algorithm": "layered", "elk.direction": "DOWN", "elk.hierarchyHandling": "INCLUDE_CHILDREN",
        "elk.edgeRouting": "ORTHOGONAL", "elk.layered.spacing.nodeNodeBetweenLayers": "26", "elk.spacing.nodeNode": "18",
        "elk.layered.mergeEdges": "false", "elk.json.shapeCoords": "ROOT", "elk.json.edgeCoords": "ROOT",
        "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
      },
    });
    if (turn !== this.turn) return;
    this.size = { width: placed.width, height: placed.height };
    for (const part of [this.shapes, this.arrows, this.names]) part.replaceChildren();
    this.boxes.clear();
    this.drawNodes(placed.children || []);
    for (const edge of placed.edges || []) this.drawEdge(edge);
    if (!keepView) this.fit();
  }

  drawNodes(list) {
    for (const placed of list) {
      const { node, x, y, width, height } = placed;
      const group = element("g", { class: node.kind + (node.children ? " box" : ""), "data-id": node.id }, this.shapes);
      element("rect", { x, y, width, height, rx: node.round ? 11 : 4 }, group);
      placed.lines.forEach((line, at) => {
        const attributes = node.children
          ? { x: x + 10, y: y + 17 + 15 * at, class: at ? "small title" : "head title" }
          : { x: x + width / 2, y: y + 17 + 14 * at, "text-anchor": "middle", class: at ? "small" : "" };
        element("text", attributes, this.names).textContent = line;
      });
      if (node.note) element("title", {}, group).textContent = node.note;
      this.boxes.set(node.id, { group, x, y, width, height });
      if (placed.children) this.drawNodes(placed.children);
    }
  }

  drawEdge(placed) {
    const kind = placed.edge.moves ? "edge moves" : "edge";
    for (const { startPoint, bendPoints = [], endPoint } of placed.sections || []) {
      const [first, ...rest] = [startPoint, ...bendPoints, endPoint].map((point) => `${point.x} ${point.y}`);
      element("path", { class: kind, d: `M${first} L${rest.join(" L")}`, "marker-end": `url(#${this.svg.id}-arrow)` }, this.arrows);
    }
    for (const label of placed.labels || []) {
      const made = element("text", { class: "label", x: label.x + 3, y: label.y + 11 }, this.names);
      made.textContent = label.text;
    }
  }

  listen() {
    const svg = this.svg;
    const marker = element("marker", { id: `${svg.id}-arrow`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
      orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" }, element("defs", {}, svg));
    element("path", { d: "M0 0L8 4L0 8z", fill: "context-stroke" }, marker);
    let drag = null;
    svg.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, moved: false }; });
    svg.addEventListener("pointermove", (event) => {
      if (!drag || !event.buttons) return;
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      if (!drag.moved && Math.hypot(dx, dy) < 4) return;
      drag = { x: event.clientX, y: event.clientY, moved: true };
      this.touched = true;
      this.move(this.view.x + dx, this.view.y + dy, this.view.scale);
    });
    svg.addEventListener("click", (event) => {
      const box = event.target.closest("[data-id]");
      if (box && !(drag && drag.moved)) this.onPick(box.dataset.id);
    });
    svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = svg.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY / 600), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
  }

  move(x, y, scale) {
    this.view = { x, y, scale };
    this.layer.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
  }

  zoom(by, x = this.svg.clientWidth / 2, y = this.svg.clientHeight / 2) {
    this.touched = true;
    const scale = Math.min(4, Math.max(0.02, this.view.scale * by));
    const ratio = scale / this.view.scale;
    this.move(x - (x - this.view.x) * ratio, y - (y - this.view.y) * ratio, scale);
  }

  // All of it where text stays readable, else its top.
  fit() {
    if (!this.size) return;
    this.touched = false;
    const { clientWidth: width, clientHeight: height } = this.svg;
    const all = Math.min((width - 16) / this.size.width, (height - 16) / this.size.height, 1.2);
    const scale = Math.max(all, Math.min(0.62, (width - 16) / this.size.width));
    const top = this.size.height * scale > height ? 8 : (height - this.size.height * scale) / 2;
    this.move((width - this.size.width * scale) / 2, top, scale);
  }

  center(id) {
    const box = this.boxes.get(id);
    if (!box) return;
    this.touched = true;
    const scale = Math.max(this.view.scale, 0.8);
    const { clientWidth: width, clientHeight: height } = this.svg;
    const tall = box.height * scale > height - 40;
    const y = tall ? 20 - box.y * scale : height / 2 - (box.y + box.height / 2) * scale;
    // No empty space past an end of what is larger than the view.
    const inside = (at, view, size) => (size <= view ? null : Math.max(Math.min(8, view - 8 - size), Math.min(8, at)));
    const x = inside(width / 2 - (box.x + box.width / 2) * scale, width, this.size.width * scale);
    this.move(x ?? (width - this.size.width * scale) / 2, inside(y, height, this.size.height * scale) ?? 8, scale);
  }

  mark(name, id) {
    for (const { group } of this.boxes.values()) group.classList.remove(name);
    const box = this.boxes.get(id);
    if (box) box.group.classList.add(name);
  }
}
