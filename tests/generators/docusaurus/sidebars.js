export default {
  docs: [
    "index",
    "storms",
    {
      type: "category",
      label: "Guide",
      link: { type: "generated-index", title: "Every guide" },
      items: ["guide/mooring"],
    },
  ],
};
