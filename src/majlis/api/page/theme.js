/** The theme that was chosen in the app. Runs before the page is shown. */
try {
  const theme = localStorage.getItem('majlis.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system decides.
}
