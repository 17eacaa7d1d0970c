// Hides what does not contain every word of the filter, and opens the operation that the address names.
const filter = document.getElementById("filter");
const parts = [...document.querySelectorAll(".operation, .type")].map((part) => [part, part.textContent.toLowerCase()]);

filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const [part, text] of parts) part.hidden = !words.every((word) => text.includes(word));
  for (const section of document.querySelectorAll("section")) {
    section.hidden = !section.querySelector(".operation:not([hidden]), .type:not([hidden])");
  }
});

function open() {
  const named = location.hash && document.getElementById(location.hash.slice(1));
  const operation = named && named.closest("details");
  if (operation) {
    operation.open = true;
    operation.scrollIntoView();
  }
}
addEventListener("hashchange", open);
open();
