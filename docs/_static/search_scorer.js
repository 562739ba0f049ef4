// How results of the search are ordered: answers before methods, a class before the methods of classes, and pages whose title has the
// words of the question before those that only mention them. The other numbers are Sphinx's own.
var Scorer = {
  score: (result) => {
    const [docname, title, anchor, descr, score, filename, kind] = result;
    const sections = { "how-to/": 3, "guide/": 2, "quick-start": 2, "benchmarks/": 0.3, "decisions/": 0.3, "changelog": 0.3 };
    const section = Object.keys(sections).find((start) => docname.startsWith(start));
    let weight = section && !docname.endsWith("README") ? sections[section] : 1;
    if (kind === "object" && title.split(".").length > 2) weight = 0.5; // woodwind.SomeClassifier.save
    const asked = (new URLSearchParams(window.location.search).get("q") || "").toLowerCase().split(/[^a-z0-9_]+/).filter(Boolean);
    const words = title.toLowerCase();
    const met = asked.filter((word) => words.includes(word.length > 3 ? word.replace(/(ies|e?s|ing)$/, "") : word)).length;
    return Math.max(score, 1) * weight * (1 + met / Math.max(asked.length, 1));
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
