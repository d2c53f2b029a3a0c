// The theme tells the console whatever it does. Warnings and errors still show.
const log = console.log;
console.log = (...said) => {
  if (!String(said[0]).startsWith("[PST]")) log(...said);
};

// A page that was opened as a file may not read the pages that a search has found.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
