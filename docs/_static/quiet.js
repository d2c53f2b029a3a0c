// The theme tells the console whatever it does. Warnings and errors still show.
const log = console.log;
console.log = (...said) => {
  if (!String(said[0]).startsWith("[PST]")) log(...said);
};
