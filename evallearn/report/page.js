for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, i) => head.firstElementChild.addEventListener("click", () => {
    const numeric = [...body.rows].some(r => r.cells[i].dataset.v);
    const was = head.getAttribute("aria-sort");
    const up = was ? was !== "ascending" : !numeric;  // numbers: the largest first
    const order = (a, b) => {
      const [x, y] = [a, b].map(r => numeric ? r.cells[i].dataset.v ?? "" : r.cells[i].textContent.trim());
      if (x === "" || y === "") return (x === "") - (y === "");  // what is not known goes last
      const d = numeric ? x - y : x.localeCompare(y);
      return up ? d : -d;
    };
    heads.forEach(h => h.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    body.append(...[...body.rows].sort(order));
  }));
}
