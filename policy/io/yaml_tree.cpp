// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/yaml_tree.h"

#include <exception>
#include <sstream>
#include <unordered_map>
#include <utility>

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "policy/io/text_lines.h"

namespace paced::io {

namespace {

// yaml-cpp calls, we build. Only what it reports is taken from it: its own tree keeps doubled keys and knows no merge keys.
class TreeBuilder : public YAML::EventHandler {
public:
    TreeBuilder(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

    std::optional<YamlNode> root;
    int documents = 0;
    YAML::Mark second_document;

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents == 2) second_document = mark;
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(make(YamlNode::Kind::null, mark, anchor)); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        refuse(mark, "aliases (*name) are not read", "Slurm does not read them either; write the value out");
        add(make(YamlNode::Kind::null, mark, 0));
    }
    void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string& value) override {
        YamlNode node = make(YamlNode::Kind::scalar, mark, anchor);
        node.text = value;
        add(std::move(node));
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
        open_.push_back({make(YamlNode::Kind::sequence, mark, anchor), {}, {}});
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
        open_.push_back({make(YamlNode::Kind::mapping, mark, anchor), {}, {}});
    }
    void OnMapEnd() override { close(); }

private:
    struct Open {
        YamlNode node;
        std::optional<YamlNode> key;                // whose value comes next
        std::unordered_map<std::string, int> seen;  // keys, with their line
    };

    YamlNode make(YamlNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
        if (anchor != 0) refuse(mark, "anchors (&name) are not read", "Slurm does not read them either; write the value out");
        YamlNode node;
        node.kind = kind;
        node.line = mark.line + 1;
        node.column = mark.column + 1;
        return node;
    }

    void refuse(const YAML::Mark& mark, std::string message, std::string hint) {
        diagnostics_.error({file_, mark.line + 1, mark.column + 1}, std::move(message)).hints.push_back(std::move(hint));
    }

    void close() {
        YamlNode node = std::move(open_.back().node);
        open_.pop_back();
        add(std::move(node));
    }

    void add(YamlNode node) {
        if (open_.empty()) {
            if (!root) root = std::move(node);
            return;
        }
        Open& parent = open_.back();
        if (parent.node.kind == YamlNode::Kind::sequence) {
            parent.node.items.push_back(std::move(node));
        } else if (!parent.key) {
            check_key(parent, node);
            parent.key = std::move(node);
        } else {
            parent.node.keys.push_back(std::move(*parent.key));
            parent.node.items.push_back(std::move(node));
            parent.key.reset();
        }
    }

    void check_key(Open& mapping, const YamlNode& key) {
        const Location place{file_, key.line, key.column};
        if (key.kind != YamlNode::Kind::scalar) {
            diagnostics_.error(place, "a key must be a word, and this is " + kind_in_words(key));
            return;
        }
        if (key.text == "<<") {
            diagnostics_.error(place, "merge keys (<<) are not read")
                .hints.push_back("Slurm does not read them either; write the values out");
            return;
        }
        const auto [first, is_new] = mapping.seen.try_emplace(key.text, key.line);
        if (!is_new)
            diagnostics_.error(place, "'" + key.text + "' a second time")
                .hints.push_back("the first one is on line " + std::to_string(first->second));
    }

    const std::string& file_;
    Diagnostics& diagnostics_;
    std::vector<Open> open_;
};

// line: from 0
bool is_indented_by_tab(std::string_view text, int line) {
    TextLines lines(text);
    for (std::string_view each; lines.next(each);)
        if (lines.number() == line + 1) return each.substr(0, each.find_first_not_of(" \t")).find('\t') != std::string_view::npos;
    return false;
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (keys[i].text == key) return &items[i];
    return nullptr;
}

std::string kind_in_words(const YamlNode& node) {
    switch (node.kind) {
        case YamlNode::Kind::null:
            return "nothing";
        case YamlNode::Kind::scalar:
            return "the word '" + node.text + "'";
        case YamlNode::Kind::sequence:
            return "a list";
        case YamlNode::Kind::mapping:
            return "a mapping";
    }
    return {};
}

std::optional<YamlNode> parse_yaml(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    Diagnostics own;
    TreeBuilder builder(file, own);
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        while (builder.documents < 2 && parser.HandleNextDocument(builder)) {
        }
        if (!builder.root || (builder.root->kind == YamlNode::Kind::null && !own.has_errors()))
            own.error({file, 1, 1}, "this file is empty");
        if (builder.documents > 1)
            own.error({file, builder.second_document.line + 1, builder.second_document.column + 1},
                      "a second document in this file; Slurm reads one");
    } catch (const YAML::DeepRecursion& mistake) {
        own.error({file, mistake.mark.line + 1, mistake.mark.column + 1}, "lists and mappings are nested too deep");
    } catch (const YAML::Exception& mistake) {
        Location place{file, 0, 0};
        if (!mistake.mark.is_null()) place = {file, mistake.mark.line + 1, mistake.mark.column + 1};
        auto& entry = own.error(std::move(place), "no YAML: " + mistake.msg);
        if (is_indented_by_tab(text, mistake.mark.line)) entry.hints.push_back("YAML is indented with blanks, not with tabs");
    } catch (const std::exception& mistake) {
        own.error({file, 0, 0}, std::string("no YAML: ") + mistake.what());
    }
    diagnostics.append(own);
    if (own.has_errors()) return std::nullopt;
    return std::move(builder.root);
}

}  // namespace paced::io
