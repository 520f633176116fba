const state = document.querySelector("#state");
document.querySelector("#go").addEventListener("click", async () => {
  const [file] = document.querySelector("#file").files;
  const word = document.querySelector("#word").value;
  state.textContent = word === "wrong" ? "error: wrong word in /home/me/secret" : `got ${await file?.text()} ${word}`;
});
