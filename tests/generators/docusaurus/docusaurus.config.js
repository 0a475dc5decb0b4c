export default {
  title: "Harbour",
  url: "https://harbour.example",
  baseUrl: "/docs/",
  onBrokenLinks: "throw",
  plugins: [
    [
      "@docusaurus/plugin-content-docs",
      {
        routeBasePath: "/",
        sidebarPath: "./sidebars.js",
        editUrl: "https://code.example/edit/",
      },
    ],
  ],
  themes: ["@docusaurus/theme-classic"],
  themeConfig: {
    metadata: [{ name: "description", content: "Everything about small boats" }],
    navbar: { title: "Harbour", items: [{ to: "/storms", label: "Navbar link" }] },
    footer: { copyright: "Copyright of the crew" },
  },
};
