-- Drives an editor as a user does: it opens a model, and prints what arrives. `MODEL` is the file, `WRONG` one with an unknown axis.
local function say(...) io.stdout:write(table.concat({ ... }, " "):gsub("%s+", " ") .. "\n") end

local function fail(what)
  say("no", what)
  vim.cmd("cquit")
end

local function wait(what, condition)
  if not vim.wait(120000, condition, 50) then fail(what) end
end

-- The text of the floating window, which is closed.
local function take_window()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      local text = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), " ")
      vim.api.nvim_win_close(window, true)
      return text
    end
  end
end

local function get_text() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n") end

vim.cmd("edit " .. os.getenv("MODEL"))
local get_clients = vim.lsp.get_clients or vim.lsp.get_active_clients
wait("client", function() return get_clients()[1] and get_clients()[1].initialized end)
say("client:", get_clients()[1].name)

if vim.lsp.inlay_hint then
  wait("hints", function()
    vim.cmd("redraw")
    return #vim.lsp.inlay_hint.get({ bufnr = 0 }) > 0
  end)
  local hint = vim.lsp.inlay_hint.get({ bufnr = 0 })[1].inlay_hint
  say("hint:", hint.position.line + 1, hint.label)
end

vim.fn.search("%0 =")
vim.lsp.buf.hover()
local text
wait("hover", function()
  text = take_window()
  return text
end)
say("hover:", text)

vim.fn.search('{"x"')
local position = { line = vim.fn.line(".") - 1, character = vim.fn.col(".") }
local request = { textDocument = { uri = vim.uri_from_bufnr(0) }, position = position }
for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/completion", request, 120000) or {}) do
  for _, item in ipairs(answer.result.items or answer.result) do say("completion:", item.label) end
end

vim.cmd("edit " .. os.getenv("WRONG"))
wait("diagnostic", function() return #vim.diagnostic.get(0) > 0 end)
local diagnostic = vim.diagnostic.get(0)[1]
say("diagnostic:", diagnostic.message)
vim.ui.select = function(actions, _, choose) choose(actions[1], 1) end
vim.api.nvim_win_set_cursor(0, { diagnostic.lnum + 1, diagnostic.col })
vim.lsp.buf.code_action()
wait("fix", function() return not get_text():find('"xx"', 1, true) end)
wait("fixed diagnostic", function() return #vim.diagnostic.get(0) == 0 end)
say("fixed: line", diagnostic.lnum + 1)
vim.cmd("quitall!")
